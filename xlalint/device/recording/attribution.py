"""From the events of a log to counts by line and by step. Pure: no torch, no files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import msgspec

from xlalint.device.recording.counts import Counts, LineCounts
from xlalint.device.recording.debug_log import Boundary, Charge, Event, Frame, Graph, Process, Ran, Totals

Owned = Callable[[str], bool]
"""Whether a path is one of the user's files."""
Place = tuple[str, int]
"""Path and line."""


class Step(msgspec.Struct, frozen=True):
    """What happened up to a boundary. Lines by path and number; None is what no line explains."""

    lines: dict[Place | None, Counts]
    compiled: tuple[tuple[Place | None, Graph], ...]
    early: dict[Place | None, int]
    """Graphs that ran because a line wanted a value before the boundary."""

    @property
    def counts(self) -> Counts:
        return sum(self.lines.values(), Counts())


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """One process."""

    process: Process | None
    totals: Counts
    """The runtime's own metrics where ``complete``, else what was recorded."""
    complete: bool
    """Whether the process reached its end."""
    steps: tuple[Step, ...]
    rest: Step
    """What came after the last boundary."""
    lines: tuple[LineCounts, ...]
    unattributed: Counts
    ran: dict[str, frozenset[int]]
    """The lines of the user's files that ran; empty where the process did not reach its end."""


def attribute(log: Iterable[Event], owned: Owned) -> Recording:
    work = _Work(owned)
    for event in log:
        work.take(event)
    return work.done()


class _Work:
    def __init__(self, owned: Owned) -> None:
        self._owned = owned
        self._functions: dict[Place, str] = {}
        self._lines: dict[Place | None, Counts] = {}
        self._compiled: list[tuple[Place | None, Graph]] = []
        self._early: dict[Place | None, int] = {}
        self._ran: dict[str, frozenset[int]] = {}
        self._steps: list[tuple[Place | None, Step]] = []
        self._totals: Counts | None = None
        self._process: Process | None = None
        # How many the log told, less how many the counters did: what is missing in the log is charged by counters.
        self._ahead = Counts()

    def take(self, event: Event) -> None:
        if isinstance(event, Graph):
            self._take_graph(event)
        elif isinstance(event, Charge):
            self._take_charge(event)
        elif isinstance(event, Boundary):
            self._end_step((event.at.path, event.at.line) if event.at else None)
        elif isinstance(event, Ran):
            self._ran = {path: frozenset(lines) for path, lines in event.lines.items()}
        elif isinstance(event, Totals):
            self._totals = event.counts
        else:
            self._process = event

    def done(self) -> Recording:
        steps, rest = _regular(self._steps, self._step())
        sums: dict[Place, Counts] = {}
        recorded = Counts()
        for step in (*steps, rest):
            recorded += step.counts
            for place, counts in step.lines.items():
                if place is not None:
                    sums[place] = sums.get(place, Counts()) + counts
        totals = recorded if self._totals is None else self._totals
        return Recording(
            process=self._process,
            totals=totals,
            complete=self._totals is not None,
            steps=tuple(steps),
            rest=rest,
            lines=tuple(self._line_counts(place, sums[place]) for place in sorted(sums)),
            unattributed=totals - sum(sums.values(), Counts()),
            ran=self._ran,
        )

    def _take_graph(self, graph: Graph) -> None:
        one = Counts(compiles=1) if graph.is_compile else Counts(executions=1)
        self._ahead += one
        place = self._add(self._innermost(graph.frames), one)
        if graph.is_compile:
            self._compiled.append((place, graph))
        elif graph.is_early:
            self._early[place] = self._early.get(place, 0) + 1
        elif graph.at_boundary and self._process is None:
            # A log without the recorder's lines: the boundary is known by what it ran.
            self._end_step(place)

    def _take_charge(self, charge: Charge) -> None:
        gained = charge.gained
        compiles, missing_compiles = _settle(self._ahead.compiles, gained.compiles)
        executions, missing_executions = _settle(self._ahead.executions, gained.executions)
        self._ahead = Counts(compiles=compiles, executions=executions)
        self._add(
            charge.at,
            msgspec.structs.replace(gained, compiles=missing_compiles, executions=missing_executions),
        )

    def _innermost(self, frames: tuple[Frame, ...]) -> Frame | None:
        return next((frame for frame in frames if self._owned(frame.path)), None)

    def _add(self, frame: Frame | None, counts: Counts) -> Place | None:
        place = (frame.path, frame.line) if frame is not None and self._owned(frame.path) else None
        if frame is not None and place is not None:
            self._functions.setdefault(place, frame.function)
        if counts != Counts():
            self._lines[place] = self._lines.get(place, Counts()) + counts
        return place

    def _end_step(self, at: Place | None) -> None:
        # A boundary behind which nothing ran ends no step: some libraries set one at each end.
        if any(counts.executions for counts in self._lines.values()):
            self._steps.append((at, self._step()))
            self._lines, self._compiled, self._early = {}, [], {}

    def _step(self) -> Step:
        return Step(self._lines, tuple(self._compiled), self._early)

    def _line_counts(self, place: Place, counts: Counts) -> LineCounts:
        return LineCounts(
            path=place[0], line=place[1], function=self._functions[place], **msgspec.structs.asdict(counts)
        )


def _regular(steps: Sequence[tuple[Place | None, Step]], rest: Step) -> tuple[list[Step], Step]:
    """Without the boundaries that were passed only once, if others were passed again: those end no step of a loop."""
    passed = Counter(at for at, _ in steps)
    least = 2 if any(count > 1 for count in passed.values()) else 1
    regular: list[Step] = []
    open_step: Step | None = None
    for at, step in steps:
        joined = _joined(open_step, step) if open_step else step
        open_step = None if passed[at] >= least else joined
        if open_step is None:
            regular.append(joined)
    return regular, _joined(open_step, rest) if open_step else rest


def _joined(one: Step, other: Step) -> Step:
    lines = {
        place: one.lines.get(place, Counts()) + other.lines.get(place, Counts()) for place in (*one.lines, *other.lines)
    }
    early = {place: one.early.get(place, 0) + other.early.get(place, 0) for place in (*one.early, *other.early)}
    return Step(lines, one.compiled + other.compiled, early)


def _settle(ahead: int, gained: int) -> tuple[int, int]:
    """How far the log stays ahead of the counters, and how many of ``gained`` it does not have."""
    return max(ahead - gained, 0), max(gained - ahead, 0)
