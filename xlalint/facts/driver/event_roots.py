"""The roots of one function's events: which of them one decision causes.

A root is known by its place and never by its neighbours: a value by the statement that bound it, a call by where it
stands, a habit by its file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Protocol, TypeAlias

from xlalint.facts.effect_traits import READS, TRAITS
from xlalint.facts.events import Effect, Root, RootKind, Span
from xlalint.facts.records import NO_ROOT, RawEvent
from xlalint.facts.regions import FunctionFacts
from xlalint.program.ir import encloses, unpack

WHOLE: Final = 10_000
"""Characters of an expression that tell it from others."""
MODULE: Final = "<module>"
OF_SELF: Final = "self."
HABITS: Final[Mapping[Effect, str]] = MappingProxyType(
    {Effect.CUDA_HABIT: "the code for CUDA", Effect.LOW_PRECISION: "the low precision"}
)
"""What the events of such an effect have in common, whatever their subject."""


class TextBySpan(Protocol):
    """The text of a file by packed span."""

    def of(self, at: int, limit: int = ...) -> str: ...


Label: TypeAlias = tuple[RootKind, str, int]
"""What events may have in common: the kind, its text, and the statement where it stands."""


class EventRoots:
    """Answers for one function, of which it has all events. ``shown`` gives the path of a file as it is shown."""

    def __init__(
        self, function: FunctionFacts, events: Sequence[RawEvent], text: TextBySpan, shown: Callable[[str], str]
    ) -> None:
        self.function = function
        self.text = text
        self.shown = shown
        self.here = shown(function.key[0])
        self.tests = [raw for raw in events if TRAITS[raw.effect].root is RootKind.TEST]
        self.tested = frozenset(raw.statement for raw in self.tests)
        self.shared = shared([self.labels(raw) for raw in events if is_read(raw)])

    def of(self, raw: RawEvent) -> Root | None:
        """The root of an event; None where that is the place itself."""
        return ROOTS[TRAITS[raw.effect].root](self, raw)

    def test_before(self, raw: RawEvent) -> RawEvent | None:
        """The test that an event stands behind, where that has read the same value."""
        if not TRAITS[raw.effect].transfer or not raw.root.tests:
            return None
        for test in self.tests:
            behind = test.root.text and any(encloses(at, test.at) for at in raw.root.tests)
            if behind and self.key_of(test) == self.key_of(raw):
                return test
        return None

    def key_of(self, raw: RawEvent) -> str:
        """What tells a value from others: its text, and what bound it or its names."""
        known = raw.root
        name = " ".join(self.text.of(known.text, WHOLE).split())
        if known.at:
            return f"{name} {known.at}"
        scope = self.function.owner if name.startswith(OF_SELF) and not any(known.bound) else ""
        return f"{name} {known.bound} {scope or self.function.key[1:]}"

    def labels(self, raw: RawEvent) -> list[Label]:
        """All that a read may have in common with others, what tells most first."""
        found: list[Label] = []
        if raw.root.text:
            found.append((RootKind.VALUE, self.key_of(raw), raw.root.at))
        if raw.root.use != NO_ROOT.use:
            found.append((RootKind.USE, *raw.root.use))
        if raw.statement:
            found.append((RootKind.TEST if raw.statement in self.tested else RootKind.STATEMENT, "", raw.statement))
        return found

    def read(self, raw: RawEvent) -> Root | None:
        """The root of a value that is read: what most of its group have in common."""
        if not is_read(raw):
            return self.value(raw, self.key_of(raw), raw.root.at) if raw.root.text else None
        labels = self.labels(raw)
        if not labels:
            return None
        kind, key, at = self.shared[labels[0]]
        return NAMED[kind](self, raw, key, at)

    def value(self, raw: RawEvent, key: str, at: int) -> Root:
        text = key.partition(" ")[0] if at else self.text.of(raw.root.text)
        return self.root(RootKind.VALUE, key, f"`{text}`", span_of(at) if at else None)

    def use(self, raw: RawEvent, name: str, at: int) -> Root:
        text = name.strip() or self.text.of(at)
        return self.root(RootKind.USE, f"{name} {at} {self.function.key[1:]}", f"`{text}`", span_of(at) if at else None)

    def statement(self, raw: RawEvent, key: str, at: int) -> Root:
        kind = RootKind.TEST if at in self.tested else RootKind.STATEMENT
        return self.root(kind, str(at), f"the same {kind.value}", span_of(at))

    def batch_maker(self, raw: RawEvent) -> Root | None:
        if self.function.name == MODULE or raw.form == "constructor":
            return None
        _, name, at = self.function.key
        return self.root(RootKind.FUNCTION, f"{name} {at}", f"`{name}`", span_of(at))

    def call(self, raw: RawEvent) -> Root | None:
        """What was put on elsewhere; of ops of one name what their results are first used for together."""
        known, name = raw.root, raw.subject
        if known.path:
            text, path = f"`{name.rpartition('.')[2]}`", self.shown(known.path)
            return Root(kind=RootKind.CALL, key=f"{name} {known.at}", text=text, path=path, span=span_of(known.at))
        taker, at = known.use
        return None if taker or not at else self.use(raw, f"{name} ", at)

    def habit(self, raw: RawEvent) -> Root | None:
        text = HABITS.get(raw.effect, f"`{raw.subject}`")
        return self.root(RootKind.HABIT, f"{raw.effect.value} {text}", f"{text} in this file", None)

    def root(self, kind: RootKind, key: str, text: str, span: Span | None) -> Root:
        return Root(kind=kind, key=key, text=text, path=self.here, span=span)

    def nothing(self, raw: RawEvent) -> Root | None:
        return None


def is_read(raw: RawEvent) -> bool:
    """Whether it brings a value to the host, for which its statement or its use may be the root."""
    traits = TRAITS[raw.effect]
    return traits.in_package == READS and traits.root in (RootKind.VALUE, RootKind.TEST)


def shared(reads: Sequence[Sequence[Label]]) -> dict[Label, Label]:
    """For each label the one that most of its group have, where reads that share one are a group."""
    group = {label: {label} for labels in reads for label in labels}
    for first, *others in filter(None, reads):
        for label in others:
            if group[label] is not group[first]:
                group[first] |= group[label]
                group.update(dict.fromkeys(group[label], group[first]))
    counts = Counter(label for labels in reads for label in labels)
    order = {kind: number for number, kind in enumerate(NAMED)}
    most = {id(each): max(each, key=lambda one: (counts[one], -order[one[0]], one)) for each in group.values()}
    return {label: most[id(each)] for label, each in group.items()}


def span_of(at: int) -> Span:
    return Span(*unpack(at))


ROOTS: Final[Mapping[RootKind, Callable[[EventRoots, RawEvent], Root | None]]] = MappingProxyType(
    {
        RootKind.PLACE: EventRoots.nothing,
        RootKind.VALUE: EventRoots.read,
        RootKind.TEST: EventRoots.read,
        RootKind.FUNCTION: EventRoots.batch_maker,
        RootKind.CALL: EventRoots.call,
        RootKind.HABIT: EventRoots.habit,
    }
)
NAMED: Final[Mapping[RootKind, Callable[[EventRoots, RawEvent, str, int], Root]]] = MappingProxyType(
    {
        RootKind.VALUE: EventRoots.value,
        RootKind.USE: EventRoots.use,
        RootKind.STATEMENT: EventRoots.statement,
        RootKind.TEST: EventRoots.statement,
    }
)
