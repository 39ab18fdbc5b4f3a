"""From the events of a log to counts by line and by step. Pure: no torch, no files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from xlalint.device.recording.counts import Amounts, Counts, LineCounts
from xlalint.device.recording.debug_log import (
    Began,
    Boundary,
    Break,
    Charge,
    Event,
    Frame,
    Graph,
    MemoryOfGraph,
    Process,
    Ran,
    Totals,
    Update,
)
from xlalint.device.recording.inside.files import is_library
from xlalint.device.recording.steps import steps_of
from xlalint.device.recording.stretches import BOUNDARY, MARK, UPDATE, Compiled, End, Place, Segment, Step

Owned = Callable[[str], bool]
"""Whether a path is one of the user's files."""


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """One process."""

    process: Process | None
    totals: Counts
    """The runtime's own metrics where ``complete``, else what was recorded."""
    complete: bool
    """Whether the process reached its end."""
    steps: tuple[Step, ...]
    rest: Step
    """What came after the last step."""
    unbounded: int
    """Of the steps, those that no boundary ended, only an optimizer."""
    lines: tuple[LineCounts, ...]
    library: dict[Place, str]
    """The functions of the library's lines that cost."""
    unattributed: Counts
    ran: dict[str, frozenset[int]]
    """The lines of the user's files that ran; empty where the process did not reach its end."""
    breaks: tuple[Break, ...]
    graphs: tuple[Graph, ...] = ()
    """What was executed, in its order."""


def attribute(log: Iterable[Event], owned: Owned, step_at: Sequence[tuple[str, int]] = ()) -> Recording:
    """``step_at`` names the lines whose graphs begin a step, for a log in which no recorder said so."""
    work = _Work(owned, frozenset(step_at))
    for event in log:
        work.take(event)
    return work.done()


class _Work:
    def __init__(self, owned: Owned, step_at: frozenset[tuple[str, int]]) -> None:
        self._owned, self._step_at = owned, step_at
        self._functions: dict[Place, str] = {}
        self._library: dict[Place, str] = {}
        self._open = Step()
        self._segments: list[Segment] = []
        self._ran: dict[str, frozenset[int]] = {}
        self._breaks: list[Break] = []
        self._graphs: list[Graph] = []
        self._totals: Counts | None = None
        self._process: Process | None = None
        # How many the log told, less how many the counters did: what is missing in the log is charged by counters.
        self._ahead = Counts()

    def take(self, event: Event) -> None:
        if isinstance(event, Graph):
            self._take_graph(event)
        elif isinstance(event, MemoryOfGraph):
            self._take_memory(event)
        elif isinstance(event, Charge):
            self._take_charge(event)
        elif isinstance(event, Boundary):
            at = (event.at.path, event.at.line) if event.at else None
            self._end(End(BOUNDARY, at if event.site is None else event.site), event.time)
        elif isinstance(event, Update):
            self._end(End(UPDATE, ("optimizer", event.optimizer)), event.time)
        elif isinstance(event, Began):
            self._end(End(MARK, None), event.time)
        elif isinstance(event, Break):
            self._breaks.append(event)
        elif isinstance(event, Ran):
            self._ran = {path: frozenset(lines) for path, lines in event.lines.items()}
        elif isinstance(event, Totals):
            self._totals = event.counts
        elif isinstance(event, Process):
            self._process = event

    def done(self) -> Recording:
        found = steps_of(self._segments, self._open, is_cut=self._totals is None)
        sums: dict[Place, Counts] = {}
        recorded = Counts()
        for step in (*found.steps, found.rest):
            recorded += step.counts
            for place, counts in step.lines.items():
                if place is not None:
                    sums[place] = sums.get(place, Counts()) + counts
        totals = recorded if self._totals is None else self._totals
        return Recording(
            process=self._process,
            totals=totals,
            complete=self._totals is not None,
            steps=found.steps,
            rest=found.rest,
            unbounded=found.unbounded,
            lines=tuple(self._line_counts(place, sums[place]) for place in sorted(sums)),
            library=self._library,
            unattributed=totals - sum(sums.values(), Counts()),
            ran=self._ran,
            breaks=tuple(self._breaks),
            graphs=tuple(self._graphs),
        )

    def _take_graph(self, graph: Graph) -> None:
        one = Counts(compiles=1) if graph.is_compile else Counts(executions=1)
        self._ahead += one
        frame, below = self._innermost(graph.frames)
        if self._process is None and self._begins(graph.frames, frame):
            self._end(End(MARK, None))
        place = self._add(frame, below, one)
        if graph.is_compile:
            inner = (below.path, below.line) if below is not None else None
            self._open.compiled.append(Compiled(place, graph.inputs, graph.outputs, inner))
            return
        self._graphs.append(graph)
        if graph.is_early:
            self._open.early[place] = self._open.early.get(place, 0) + 1
        elif graph.at_boundary and self._process is None and not self._step_at:
            # A log without the recorder's lines: the boundary is known by what it ran.
            self._end(End(BOUNDARY, tuple((frame.path, frame.line) for frame in graph.frames)))

    def _begins(self, frames: tuple[Frame, ...], innermost: Frame | None) -> bool:
        """Whether the graph was run at the line where a step begins: there, or below it in a library."""
        own = frames[: frames.index(innermost) + 1] if innermost is not None else frames
        return any((frame.path, frame.line) in self._step_at for frame in own)

    def _take_memory(self, memory: MemoryOfGraph) -> None:
        if self._open.compiled:
            last = self._open.compiled[-1]
            self._open.compiled[-1] = msgspec.structs.replace(
                last, memory={**last.memory, memory.what: memory.gigabytes}
            )

    def _take_charge(self, charge: Charge) -> None:
        gained = charge.gained
        compiles, missing_compiles = _settle(self._ahead.compiles, gained.compiles)
        executions, missing_executions = _settle(self._ahead.executions, gained.executions)
        self._ahead = Counts(compiles=compiles, executions=executions)
        counts = msgspec.structs.replace(gained, compiles=missing_compiles, executions=missing_executions)
        place = self._add(charge.at, charge.below, counts)
        if charge.amounts != Amounts():
            self._open.amounts[place] = self._open.amounts.get(place, Amounts()) + charge.amounts

    def _innermost(self, frames: tuple[Frame, ...]) -> tuple[Frame | None, Frame | None]:
        """The user's innermost frame, and the library's innermost one below it."""
        below = None
        for frame in frames:
            if self._owned(frame.path):
                return frame, below
            if below is None and is_library(frame.path):
                below = frame
        return None, below

    def _add(self, frame: Frame | None, below: Frame | None, counts: Counts) -> Place | None:
        place = (frame.path, frame.line) if frame is not None and self._owned(frame.path) else None
        if frame is not None and place is not None:
            self._functions.setdefault(place, frame.function)
        if counts != Counts():
            self._open.lines[place] = self._open.lines.get(place, Counts()) + counts
            if below is not None and place is not None:
                inner = (below.path, below.line)
                self._library.setdefault(inner, below.function)
                key = (place, inner)
                self._open.library[key] = self._open.library.get(key, Counts()) + counts
        return place

    def _end(self, end: End, time: float = 0) -> None:
        self._segments.append(Segment(msgspec.structs.replace(self._open, ended=time), end))
        self._open = Step()

    def _line_counts(self, place: Place, counts: Counts) -> LineCounts:
        return LineCounts(
            path=place[0], line=place[1], function=self._functions[place], **msgspec.structs.asdict(counts)
        )


def _settle(ahead: int, gained: int) -> tuple[int, int]:
    """How far the log stays ahead of the counters, and how many of ``gained`` it does not have."""
    return max(ahead - gained, 0), max(gained - ahead, 0)
