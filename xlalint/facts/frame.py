"""The evaluation of one function in one context: its environment, where it stands, what it leaves behind."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import msgspec

from xlalint.facts import domain as d
from xlalint.facts.events import Effect, Place
from xlalint.facts.record import ANY_PARAMETER, ROOT, CallEdge, FunctionKey, RawEvent, Record, Region, RegionKey, Sign
from xlalint.program import ir

if TYPE_CHECKING:
    from xlalint.facts.answers import Answer
    from xlalint.facts.engine import Engine

Environment: TypeAlias = "dict[str, d.Value]"
CLEAN = "%clean"
"""Present while nothing is pending on the device: a step boundary has just passed."""


class Depth:
    """How deep a query may still go, and how deep it went.

    ``calls`` and ``attributes`` are budgets. ``needed_calls`` and ``needed_attributes`` say how much of them was
    used, ``whole_calls`` and ``whole_attributes`` whether their bound was never hit. An attribute is asked for with
    a call budget of its own, so its calls do not count here.
    """

    __slots__ = ("attributes", "calls", "needed_attributes", "needed_calls", "whole_attributes", "whole_calls")

    def __init__(self, calls: int, attributes: int) -> None:
        self.calls = calls
        self.attributes = attributes
        self.needed_calls = 0
        self.needed_attributes = 0
        self.whole_calls = True
        self.whole_attributes = True

    def used(self, answer: Answer, calls: int, attributes: int) -> None:
        """An answer was used that needed so much; ``calls`` is 0 for an attribute's."""
        if attributes > self.needed_attributes:
            self.needed_attributes = attributes
        if not answer.whole_attributes:
            self.whole_attributes = False
        if calls:
            if calls > self.needed_calls:
                self.needed_calls = calls
            if not answer.whole_calls:
                self.whole_calls = False

    def cut_calls(self) -> None:
        self.whole_calls = False

    def cut_attributes(self) -> None:
        self.whole_attributes = False


class Frame:
    def __init__(
        self,
        engine: Engine,
        function: ir.FunctionIR,
        environment: Environment,
        receiver: d.Value | None,
        depth: Depth,
        no_grad: bool = False,
    ) -> None:
        self.engine = engine
        self.expressions = engine.expressions
        self.function = function
        self.path = function.module
        self.ops = engine.ops_of(self.path)
        self.definitions = engine.definitions_seen_by(function)
        self.environment: Environment | None = environment
        self.receiver = receiver
        self.depth = depth
        self.no_grad = no_grad
        self.record = Record()
        self.writes: dict[str, d.Value] = {}
        self.registered: set[str] = set()
        """Attributes that are buffers or states: these stay what they were registered as."""
        self.result: d.Value | None = None
        self.yielded: d.Value | None = None
        self.final: Environment | None = None
        self.region: RegionKey = ROOT
        self.statement = 0
        self.guards: tuple[int, ...] = ()
        self.undecided = 0
        """How many arms of tests of which nothing is known stand around this place."""
        self.origins: dict[str, int] = {}
        self.known_globals: Environment | None = {} if function.name == "<module>" else None
        """The last known value of each top-level name: what functions see that are called in between."""
        self.breaks: list[Environment] = []
        self.continues: list[Environment] = []
        self.globals: frozenset[str] = frozenset()
        self.quiet = 0
        self.rows: frozenset[str] = frozenset()
        """Names that hold one row of a tensor after the other, in the loops around this place."""
        self.remembers = False
        """Some name holds what is true every k-th time."""
        self.by_signature = False
        self.heeds_signature = False
        """Whether ``given_by_signature`` was asked."""
        self.stands_for_device = False
        self.cost = 1
        self.closures: dict[d.Function, None] = {}
        self.loops = 0
        self.called_at: set[int] = set()

    # Evaluation

    def evaluate(self, node: ir.Expr) -> d.Value:
        return self.expressions[type(node)](self, node)

    @property
    def env(self) -> Environment:
        """The environment of a place that can be reached."""
        assert self.environment is not None
        return self.environment

    def lookup(self, path: str) -> d.Value | None:
        return self.env.get(path)

    def bind(self, path: str, value: d.Value) -> None:
        environment = self.environment
        assert environment is not None
        environment[path] = value
        self.origins[path] = self.statement
        if self.known_globals is not None and value is not d.UNKNOWN:
            self.known_globals[path] = value

    def bound_on(self, name: str) -> int:
        """The line on which this function last bound a name; 0 where it was given."""
        return ir.unpack(self.origins.get(name, 0))[0]

    def given_by_signature(self) -> bool:
        """No call gave the arguments: they are what the signature promises."""
        self.heeds_signature = True
        return self.by_signature

    # What is left behind

    def emit(
        self,
        effect: Effect,
        at: int,
        value: d.Value,
        subject: str = "",
        operand: ir.Expr | None = None,
        *,
        certainty: int = 2,
        detail: str = "",
        form: str = "",
        backward_only: bool = False,
        varies: d.LoopKey | None = None,
    ) -> None:
        if self.quiet:
            return
        known = d.tensor_of(value)
        if known is not None:
            certainty = min(certainty, known.certainty)
        if self.guards:
            certainty = min(certainty, 1)
        event = RawEvent(
            effect,
            subject,
            at,
            self.statement,
            span_of(operand),
            self.engine.show(value),
            certainty,
            self.region,
            self.guards,
            self.place(),
            detail,
            form,
            backward_only,
            self.origins.get(operand.name, 0) if type(operand) is ir.Name else 0,
            varies,
            self.undecided > 0,
        )
        self.record_event(event)

    def record_event(self, event: RawEvent) -> None:
        """One place gives one event: the first that costs for sure."""
        key = (event.at, "" if event.effect not in APART else event.effect.value)
        known = self.record.events.get(key)
        surer = known is not None and known.certainty < event.certainty
        if known is None or (surer and (known.effect is event.effect or known.certainty == 0)):
            self.record.events[key] = event

    def mark_form(self, node: ir.Expr | None, effect: Effect, form: str) -> None:
        """What stands around a place that was just read tells which fix fits it."""
        key = (span_of(node), "")
        known = self.record.events.get(key)
        if known is not None and known.effect is effect and not known.form:
            self.record.events[key] = msgspec.structs.replace(known, form=form)

    def place(self) -> Place:
        env = self.environment
        if env is not None and CLEAN in env:
            return Place.AFTER_BOUNDARY
        return Place.BEFORE_BOUNDARY

    def sign(self, kind: str, at: int) -> None:
        if kind in ("model-call", "layer-call"):
            self.called_at.add(at)
        if not self.quiet:
            self.record.signs[Sign(kind, self.region, at)] = None

    def record_callee(self, call: ir.Call) -> bool:
        """Whether a call was one of a model or of a function of the program."""
        return call.at in self.called_at

    def edge(self, callee: FunctionKey, at: int, given: tuple[int, ...] = ANY_PARAMETER) -> None:
        if not at:
            return
        self.called_at.add(at)
        undecided = self.undecided > 0 or bool(self.guards)
        self.record.calls[CallEdge(callee, self.region, at, undecided, given)] = None

    def pending(self) -> None:
        """The device has work again."""
        if self.environment is not None:
            self.environment.pop(CLEAN, None)

    def after_call(self, answer: Answer) -> None:
        """Whether the device has work after a call is what the callee leaves."""
        if self.environment is not None and answer.clean:
            self.environment[CLEAN] = d.TRUE
        else:
            self.pending()

    def boundary(self, at: int) -> None:
        self.sign("boundary", at)
        if self.environment is not None:
            self.environment[CLEAN] = d.TRUE

    def inside(self, kind: str, at: int, over: str = "", text: int = 0) -> Inside:
        """Everything evaluated in here belongs to a region of its own."""
        key = (kind, at)
        known = self.record.regions.get(key)
        if known is None or known.over < over:
            self.record.regions[key] = Region(key, self.region, over, text)
        return Inside(self, key)

    def over_parameters(self) -> bool:
        """In a loop over a model's parameters."""
        key = self.region
        while key != ROOT:
            region = self.record.regions[key]
            if region.over == "parameters":
                return True
            key = region.parent
        return False

    def outermost_loop(self) -> int:
        """The line on which the outermost loop around this place begins; 0 where there is none."""
        first, key = 0, self.region
        while key in self.record.regions:
            if key[0] in ("loop", "while"):
                first = ir.unpack(key[1])[0]
            key = self.record.regions[key].parent
        return first

    def loop_key(self) -> d.LoopKey | None:
        """The innermost loop around this place."""
        if not self.loops:
            return None
        key: RegionKey | None = self.region
        while key is not None and key != ROOT:
            if key[0] in ("loop", "while"):
                return (self.path, self.function.qualname, ir.unpack(key[1])[0])
            region = self.record.regions.get(key)
            key = None if region is None else region.parent
        return None


class Inside:
    """The region that a frame stands in, for the time of a ``with``. Written out: it is entered for most branches."""

    __slots__ = ("frame", "key", "loops", "outer")

    def __init__(self, frame: Frame, key: RegionKey) -> None:
        self.frame = frame
        self.key = key
        self.outer = frame.region
        self.loops = frame.loops

    def __enter__(self) -> None:
        self.frame.region = self.key
        if self.key[0] in ("loop", "while"):
            self.frame.loops += 1

    def __exit__(self, *error: object) -> None:
        self.frame.region = self.outer
        self.frame.loops = self.loops


APART = frozenset(
    {
        Effect.BAKED_NUMBER,
        Effect.GROWING,
        Effect.GRAPH_THROUGH_STEPS,
        Effect.NO_BOUNDARY,
        Effect.BOUNDARY,
        Effect.MODE_SWITCH,
        Effect.PADDED_TO_LONGEST,
        Effect.SHORT_LAST_BATCH,
        Effect.VARYING_BATCH,
        Effect.UNSUPPORTED,
        Effect.CUDA_HABIT,
        Effect.UPLOAD,
        Effect.GROWING_MODULE,
        Effect.KEPT_OUTPUT,
        Effect.PLAIN_LOADER,
        Effect.UNSYNCED_TIMER,
        Effect.COLD_SIZES,
        Effect.VARYING_TRIPS,
        Effect.GRAPH_BREAK,
        Effect.COMPILED_PART,
        Effect.GENERATE,
        Effect.RANDOM_STRUCTURE,
    }
)
"""Effects that may stand beside a read in one place."""


def span_of(node: ir.Expr | None) -> int:
    return getattr(node, "at", 0) if node is not None else 0


def join_environments(a: Environment | None, b: Environment | None) -> Environment | None:
    """A name bound on one path only keeps its value; a pending device wins over a clean one."""
    if a is None or b is None:
        return b if a is None else a
    if a == b:
        return a
    joined = dict(a)
    for name, other in b.items():
        value = joined.get(name)
        if value is not other:
            joined[name] = other if value is None else d.join(value, other)
    if CLEAN in joined and (CLEAN not in a or CLEAN not in b):
        del joined[CLEAN]
    return joined
