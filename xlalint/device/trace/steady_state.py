"""What a traced program did, ready to be shown: by line, by step, warm-up apart from the steady state. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from xlalint.device.recording.attribution import Owned, Place, Recording, Step, attribute
from xlalint.device.recording.counts import Counts, LineCounts
from xlalint.device.recording.debug_log import Process, events
from xlalint.device.trace.graph_difference import Instruction, difference, dumped
from xlalint.findings.model import Mode


class Rates(msgspec.Struct, frozen=True, kw_only=True):
    """The mean over the steady steps."""

    compiles: float = 0
    executions: float = 0
    reads: float = 0
    uploads: float = 0
    fallbacks: float = 0


class TracedLine(msgspec.Struct, frozen=True, kw_only=True):
    total: LineCounts
    per_step: Rates | None
    """None where no step is steady."""
    early: float = 0
    """Graphs a step that ran because this line wanted a value."""


class Recompile(msgspec.Struct, frozen=True):
    """A graph that was compiled after the warm-up."""

    step: int
    """From 1."""
    at: Place | None
    differs: str
    """From the graph before it at the same place."""


class TracedProcess(msgspec.Struct, frozen=True, kw_only=True):
    """One process; a launch of several has one for each rank."""

    pid: int
    rank: int | None
    complete: bool
    """Whether the process reached its end. If not, ``totals`` are what was recorded until then."""
    steps: int
    warm_up: int
    """How many of the steps came before the first that compiled nothing."""
    totals: Counts
    per_step: Rates | None
    early: float
    lines: tuple[TracedLine, ...]
    unattributed: Counts
    recompiles: tuple[Recompile, ...]
    each_step: tuple[Counts, ...]
    ran: dict[str, frozenset[int]]


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """One run of the program in one mode."""

    mode: Mode | None
    """None for a log of unknown origin."""
    status: int
    """The program's exit code."""
    processes: tuple[TracedProcess, ...]

    @property
    def totals(self) -> Counts:
        return sum((process.totals for process in self.processes), Counts())


def trace_of_folder(folder: Path, mode: Mode, status: int, owned: Owned) -> Trace:
    """What the processes of a run left in ``folder``. Those that used no device are left out."""
    processes = []
    for log in sorted(folder.glob("*.log"), key=lambda path: path.stat().st_ctime):
        recording = recording_of(log, owned)
        if recording.totals != Counts():
            processes.append(traced(recording, dumped(log.with_suffix(""))))
    return Trace(mode=mode, status=status, processes=tuple(sorted(processes, key=_order)))


def recording_of(log: Path, owned: Owned) -> Recording:
    with log.open(encoding="utf-8", errors="replace") as lines:
        return attribute(events(lines), owned)


def renamed(trace: Trace, name: Callable[[str], str]) -> Trace:
    """With paths as ``name`` has them."""
    return msgspec.structs.replace(trace, processes=tuple(_renamed(process, name) for process in trace.processes))


def _renamed(process: TracedProcess, name: Callable[[str], str]) -> TracedProcess:
    replace = msgspec.structs.replace
    return replace(
        process,
        lines=tuple(replace(one, total=replace(one.total, path=name(one.total.path))) for one in process.lines),
        recompiles=tuple(
            replace(one, at=(name(one.at[0]), one.at[1]) if one.at else None) for one in process.recompiles
        ),
        ran={name(path): lines for path, lines in process.ran.items()},
    )


def traced(recording: Recording, graphs: Sequence[Sequence[Instruction]] = ()) -> TracedProcess:
    process = recording.process or Process(0)
    warm_up = _warm_up(recording.steps)
    steady = recording.steps[warm_up:]
    return TracedProcess(
        pid=process.pid,
        rank=process.rank,
        # A log from elsewhere does not tell.
        complete=recording.complete or recording.process is None,
        steps=len(recording.steps),
        warm_up=warm_up,
        totals=recording.totals,
        per_step=_rates([step.counts for step in steady]),
        early=_mean([sum(step.early.values()) for step in steady]),
        lines=tuple(_line(line, steady) for line in recording.lines),
        unattributed=recording.unattributed,
        recompiles=tuple(_recompiles(recording, warm_up, graphs)),
        each_step=tuple(step.counts for step in recording.steps),
        ran=recording.ran,
    )


def _order(process: TracedProcess) -> tuple[int, int]:
    return (-1 if process.rank is None else process.rank, process.pid)


def _warm_up(steps: Sequence[Step]) -> int:
    """The steps before the first that compiles nothing; where all compile, the first alone."""
    quiet = (number for number, step in enumerate(steps) if not step.counts.compiles)
    return next(quiet, min(len(steps), 1))


def _line(line: LineCounts, steady: Sequence[Step]) -> TracedLine:
    place = (line.path, line.line)
    return TracedLine(
        total=line,
        per_step=_rates([step.lines.get(place, Counts()) for step in steady]),
        early=_mean([step.early.get(place, 0) for step in steady]),
    )


def _rates(counts: Sequence[Counts]) -> Rates | None:
    if not counts:
        return None
    return Rates(**{name: _mean([getattr(one, name) for one in counts]) for name in Counts.__struct_fields__})


def _mean(numbers: Sequence[int]) -> float:
    return round(sum(numbers) / len(numbers), 4) if numbers else 0.0


def _recompiles(recording: Recording, warm_up: int, graphs: Sequence[Sequence[Instruction]]) -> Iterable[Recompile]:
    """Each compile after the warm-up, with what differs from the last one at its place.

    The compiler's dump is in the order of the compiles; where their numbers differ it can't be told which is which.
    """
    compiled = [
        (number, place, graph)
        for number, step in enumerate((*recording.steps, recording.rest), 1)
        for place, graph in step.compiled
    ]
    texts = list(graphs) if len(graphs) == len(compiled) else [()] * len(compiled)
    last: dict[Place | None, int] = {}
    for index, (number, place, graph) in enumerate(compiled):
        before = last.get(place)
        last[place] = index
        if not warm_up < number <= len(recording.steps):
            continue
        if before is None:
            yield Recompile(number, place, "first graph of this line")
        elif texts[index]:
            yield Recompile(number, place, difference(texts[before], texts[index]))
        else:
            old = compiled[before][2]
            same = (old.inputs, old.outputs) == (graph.inputs, graph.outputs)
            sizes = f"{old.inputs} inputs and {old.outputs} outputs became {graph.inputs} and {graph.outputs}"
            yield Recompile(number, place, "another graph with as many inputs and outputs" if same else sizes)
