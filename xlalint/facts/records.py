"""The record of one evaluation of a function: costly places, calls, loops, signs of a step.

Records of the same function in several contexts are merged; merging is commutative, so the order of evaluation
never shows.
"""

from __future__ import annotations

from typing import Final, TypeAlias

import msgspec

from xlalint.facts.domain.values import LoopKey
from xlalint.facts.events import Effect, Place
from xlalint.facts.kinds import RegionKind, SignKind
from xlalint.program import ir
from xlalint.program.kept_defaults import ByDefault

RegionKey: TypeAlias = tuple[RegionKind, int]
"""Kind and packed span. The function's own body is ``ROOT``."""
ROOT: RegionKey = (RegionKind.BODY, 0)
FunctionKey: TypeAlias = tuple[str, str, int]
"""Path, qualified name and packed span of a function."""

Arm: TypeAlias = tuple[int, bool]
"""Packed span of an ``if``, and the outcome of its test."""


ANY_PARAMETER: Final = (-1,)
"""Given by a call of which nothing more is known: any parameter may be."""


def function_key(function: ir.FunctionIR) -> FunctionKey:
    return (function.module, function.qualname, function.at)


class Region(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A part of a function that runs at its own pace.

    ``over`` says what a loop iterates: "loader", "counter", "tensor", "parameters" or ""; of a region of the kind
    ``GIVEN``, the position of the parameter. ``text`` is the packed span of the iterable or the test.
    """

    key: RegionKey
    parent: RegionKey
    over: str
    text: int
    turns: int = 0
    """How many turns a loop makes, as far as its bounds are known; 0 where they aren't."""


class RawRoot(msgspec.Struct, frozen=True, array_like=True, gc=False, order=True):
    """The value or call that an event is caused by.

    ``text`` is the packed span that names it, ``at`` that of the statement which bound it (0: it is an expression, or
    was given) and ``bound`` those that bound the names in an expression; ``path`` where that is another file.
    ``tests`` are the tests that the event stands behind where they hold.
    ``use`` is what the value is taken for: the name of an object and the statement that bound it, or no name and the
    statement that first uses what this one binds.
    """

    text: int = 0
    at: int = 0
    bound: tuple[int, ...] = ()
    path: str = ""
    tests: tuple[int, ...] = ()
    use: tuple[str, int] = ("", 0)


NO_ROOT: Final = RawRoot()


class RawEvent(msgspec.Struct, frozen=True, array_like=True, gc=False):
    effect: Effect
    subject: str
    at: int
    statement: int
    operand: int
    value: str
    certainty: int
    region: RegionKey
    guards: tuple[int, ...] = ()
    place: Place = Place.UNKNOWN
    detail: str = ""
    form: str = ""
    backward_only: bool = False
    origin: int = 0
    """Packed span of the statement that last assigned the operand's name, or 0."""
    varies: LoopKey | None = None
    undecided: bool = False
    """It stands in an arm of an ``if`` of which nothing is known."""
    arms: tuple[Arm, ...] = ()
    """The arms that it stands in where the function is evaluated for its own sake; where a call sees it, only those
    that a constructor's defaults decide."""
    root: RawRoot = NO_ROOT
    by_rank: bool = False
    """It stands behind a test of the rank."""
    changed_by: tuple[LoopKey, ...] = ()
    """What changes it in the calls that were seen, where that is not the same in all."""


class Sign(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Evidence of what a loop does. ``subject`` names whom it concerns: the model that is put into a mode, the function
    that is compiled."""

    kind: SignKind
    region: RegionKey
    at: int
    subject: str = ""

    @property
    def label(self) -> str:
        """Kind and subject, as sets of evidence hold them."""
        return f"{self.kind.value} {self.subject}" if self.subject else self.kind


class CallEdge(msgspec.Struct, frozen=True, array_like=True, gc=False):
    callee: FunctionKey
    region: RegionKey
    at: int
    undecided: bool = False
    """It stands behind a test of which nothing is known."""
    given: tuple[int, ...] = ANY_PARAMETER
    """The positions of the parameters that this call may give something else than the ``None`` which is their
    default."""

    def gives(self, position: int) -> bool:
        return self.given == ANY_PARAMETER or position in self.given


class DefaultTest(msgspec.Struct, frozen=True, array_like=True, gc=False, order=True):
    """A test on attributes, and its outcome where calls of the class leave some parameters out."""

    at: int
    cls: str
    by_default: ByDefault


class FunctionRecord:
    """Mutable while a function is evaluated."""

    __slots__ = ("calls", "default_tests", "events", "outcomes", "regions", "signs")

    def __init__(self) -> None:
        self.events: dict[tuple[int, str], RawEvent] = {}
        self.regions: dict[RegionKey, Region] = {}
        self.signs: dict[Sign, None] = {}
        self.calls: dict[CallEdge, None] = {}
        self.outcomes: dict[Arm, None] = {}
        """The outcomes that tests have, or may have, in calls of the program."""
        self.default_tests: dict[DefaultTest, None] = {}

    def merge(self, other: FunctionRecord) -> None:
        for key, event in other.events.items():
            mine = self.events.get(key)
            self.events[key] = event if mine is None else joined(mine, event)
        for region in other.regions.values():
            known = self.regions.get(region.key)
            if known is None or (known.over, known.turns) < (region.over, region.turns):
                self.regions[region.key] = region
        self.signs.update(other.signs)
        self.calls.update(other.calls)
        self.outcomes.update(other.outcomes)
        self.default_tests.update(other.default_tests)


def event_rank(event: RawEvent) -> tuple[object, ...]:
    return (
        event.certainty,
        event.effect.value,
        breadth(event),
        not event.backward_only,
        event.place is Place.BEFORE_BOUNDARY,
        -len(event.guards),
        event.varies or ("", "", 0),
        event.subject,
        event.value,
        event.detail,
        event.form,
        event.operand,
        event.origin,
        event.guards,
        event.region,
        not event.undecided,
        event.root,
        not event.by_rank,
    )


def breadth(event: RawEvent) -> int:
    """How many lengths a padding may make: one of which nobody knows is told as such, whoever else calls it."""
    if event.effect is not Effect.PADDED_TO_LONGEST:
        return 0
    return int(event.detail.rpartition(" ")[2]) if event.detail else 1 << 30


def stronger(a: RawEvent, b: RawEvent) -> RawEvent:
    """The surer of two events of one place; ties are broken by their text, so that the order never matters."""
    return a if a is b or event_rank(a) >= event_rank(b) else b


MOST_CHANGES = 8


def changes_of(a: RawEvent, b: RawEvent) -> tuple[LoopKey, ...]:
    """What changes the one or the other: as many as are told apart, the first by their text."""
    found = {*a.changed_by, *b.changed_by, *(one.varies for one in (a, b) if one.varies is not None)}
    return tuple(sorted(found)[:MOST_CHANGES])


def joined(a: RawEvent, b: RawEvent) -> RawEvent:
    """The stronger of two events of one place, in the arms in which both stand."""
    kept = stronger(a, b)
    if a.effect is b.effect and (a.varies, a.changed_by) != (b.varies, b.changed_by):
        kept = msgspec.structs.replace(kept, changed_by=changes_of(a, b))
    arms = tuple(arm for arm in kept.arms if arm in a.arms and arm in b.arms)
    return kept if arms == kept.arms else msgspec.structs.replace(kept, arms=arms)
