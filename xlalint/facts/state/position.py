"""The position of an evaluation: statement, region and guards around it, and what names hold there."""

from __future__ import annotations

from xlalint.facts.domain.values import LoopKey
from xlalint.facts.domain.variation import drawn_in
from xlalint.facts.events import Place
from xlalint.facts.kinds import LOOPS, RegionKind
from xlalint.facts.records import ROOT, Region, RegionKey
from xlalint.facts.state.environment import Environment
from xlalint.program import ir


class Position:
    def __init__(self, function: ir.FunctionIR, environment: Environment, regions: dict[RegionKey, Region]) -> None:
        self.function = function
        self.path = function.module
        self.environment: Environment | None = environment
        """None where the place can't be reached."""
        self.regions = regions
        self.region: RegionKey = ROOT
        self.loops = 0
        """How many loops of the function stand around this place."""
        self.statement = 0
        self.guards: tuple[int, ...] = ()
        self.undecided = 0
        """How many arms of tests of which nothing is known stand around this place."""
        self.tests: tuple[tuple[ir.Expr, bool], ...] = ()
        """The tests around this place in its innermost loop, each with the outcome that leads here."""
        self.ranks = 0
        """How many arms of tests of the rank stand around this place."""
        self.asks_rank = False
        """Whether the last test that was evaluated asks for the rank."""
        self.asks_data = False
        """Whether the last test that was evaluated asks for the value of a tensor."""
        self.by_data = 0
        """How many arms of such tests stand around this place."""
        self.rows: frozenset[str] = frozenset()
        """Names that hold one row of a tensor after the other, in the loops around this place."""
        self.origins: dict[str, int] = {}
        """The statement that last bound each name."""

    @property
    def env(self) -> Environment:
        """The environment of a place that can be reached."""
        assert self.environment is not None
        return self.environment

    def end(self) -> Environment | None:
        """The environment after what was just evaluated; None where that does not end."""
        return self.environment

    def bound_on(self, name: str) -> int:
        """The line on which this function last bound a name; 0 where it was given."""
        return ir.unpack(self.origins.get(name, 0))[0]

    def place(self) -> Place:
        env = self.environment
        return Place.AFTER_BOUNDARY if env is not None and env.is_clean else Place.BEFORE_BOUNDARY

    def inside(self, kind: RegionKind, at: int, over: str = "", text: int = 0, turns: int = 0) -> Inside:
        """Everything evaluated in here belongs to a region of its own."""
        key = (kind, at)
        known = self.regions.get(key)
        if known is None or (known.over, known.turns) < (over, turns):
            self.regions[key] = Region(key, self.region, over, text, turns)
        return Inside(self, key)

    def over_parameters(self) -> bool:
        """In a loop over a model's parameters."""
        key = self.region
        while key != ROOT:
            region = self.regions[key]
            if region.over == "parameters":
                return True
            key = region.parent
        return False

    def outermost_loop(self) -> int:
        """The line on which the outermost loop around this place begins; 0 where there is none."""
        first, key = 0, self.region
        while key in self.regions:
            if key[0] in LOOPS:
                first = ir.unpack(key[1])[0]
            key = self.regions[key].parent
        return first

    def draw_key(self) -> LoopKey:
        """What marks a random number that is drawn here."""
        return drawn_in(self.path, self.function.qualname, self.region[1])

    def loop_key(self) -> LoopKey | None:
        """The innermost loop around this place."""
        if not self.loops:
            return None
        key: RegionKey | None = self.region
        while key is not None and key != ROOT:
            if key[0] in LOOPS:
                return (self.path, self.function.qualname, ir.unpack(key[1])[0])
            region = self.regions.get(key)
            key = None if region is None else region.parent
        return None


class Inside:
    """The region that a position is in, for the time of a ``with``. Written out: it is entered for most branches."""

    __slots__ = ("key", "loops", "outer", "position")

    def __init__(self, position: Position, key: RegionKey) -> None:
        self.position = position
        self.key = key
        self.outer = position.region
        self.loops = position.loops

    def __enter__(self) -> None:
        self.position.region = self.key
        if self.key[0] in LOOPS:
            self.position.loops += 1

    def __exit__(self, *error: object) -> None:
        self.position.region = self.outer
        self.position.loops = self.loops
