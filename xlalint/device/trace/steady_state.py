"""What a traced program did, ready to be shown: by line, by step, warm-up apart from the steady state. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from xlalint.device.recording.attribution import Owned, Recording, attribute
from xlalint.device.recording.counts import Amounts, Counts, LineCounts
from xlalint.device.recording.debug_log import Process, events
from xlalint.device.recording.stretches import Compiled, Place, Step
from xlalint.device.trace.graph_difference import Instruction, difference, dumped
from xlalint.device.trace.model import (
    CompiledGraph,
    LibraryLine,
    Rates,
    Trace,
    TracedLine,
    TracedProcess,
    TracedStep,
)
from xlalint.findings.model import Mode


def trace_of_folder(folder: Path, mode: Mode, status: int, owned: Owned) -> Trace:
    """What the processes of a run left in ``folder``. Those that used no device are left out."""
    processes = []
    for log in sorted(folder.glob("*.log"), key=lambda path: path.stat().st_ctime):
        recording = recording_of(log, owned)
        if recording.totals != Counts():
            processes.append(traced(recording, dumped(log.with_suffix(""))))
    return Trace(mode=mode, status=status, processes=tuple(sorted(processes, key=_order)))


def recording_of(log: Path, owned: Owned, step_at: Sequence[Place] = ()) -> Recording:
    with log.open(encoding="utf-8", errors="replace") as lines:
        return attribute(events(lines), owned, step_at)


def renamed(trace: Trace, name: Callable[[str], str]) -> Trace:
    """With paths as ``name`` has them."""
    return msgspec.structs.replace(trace, processes=tuple(_renamed(process, name) for process in trace.processes))


def traced(recording: Recording, graphs: Sequence[Sequence[Instruction]] = ()) -> TracedProcess:
    process = recording.process or Process(0)
    warming = _warming(recording.steps)
    steady = [step for step, warms in zip(recording.steps, warming, strict=True) if not warms]
    main = [step for step in steady if step.updates] or steady
    stretches = (*recording.steps, recording.rest)
    return TracedProcess(
        pid=process.pid,
        rank=process.rank,
        device=process.device,
        devices=process.devices,
        # A log from elsewhere does not tell.
        complete=recording.complete or recording.process is None,
        steps=tuple(
            TracedStep(counts=step.counts, lines=step.lines, warm_up=warms, updates=step.updates)
            for step, warms in zip(recording.steps, warming, strict=True)
        ),
        rest=recording.rest.counts,
        unbounded=recording.unbounded,
        totals=recording.totals,
        amounts=sum((amounts for step in stretches for amounts in step.amounts.values()), Amounts()),
        per_step=_rates([step.counts for step in main]),
        early=_mean([sum(step.early.values()) for step in main]),
        lines=tuple(_line(line, recording, steady) for line in recording.lines),
        unattributed=recording.unattributed,
        graphs=tuple(_graphs(recording, warming, graphs)),
        breaks=recording.breaks,
        ran=recording.ran,
        executed=tuple(_executed(recording)),
    )


def _renamed(process: TracedProcess, name: Callable[[str], str]) -> TracedProcess:
    replace = msgspec.structs.replace

    def place(at: Place | None) -> Place | None:
        return (name(at[0]), at[1]) if at else None

    return replace(
        process,
        lines=tuple(replace(one, total=replace(one.total, path=name(one.total.path))) for one in process.lines),
        steps=tuple(
            replace(one, lines={place(at): counts for at, counts in one.lines.items()}) for one in process.steps
        ),
        graphs=tuple(replace(one, at=place(one.at)) for one in process.graphs),
        breaks=tuple(
            replace(one, at=replace(one.at, path=name(one.at.path)) if one.at else None) for one in process.breaks
        ),
        executed=tuple((text, place(at)) for text, at in process.executed),
        ran={name(path): lines for path, lines in process.ran.items()},
    )


def _order(process: TracedProcess) -> tuple[int, int]:
    return (-1 if process.rank is None else process.rank, process.pid)


def _warming(steps: Sequence[Step]) -> list[bool]:
    """Of each step whether it comes before the first of its loop that compiles nothing; where all compile, the first.

    Steps with an optimizer and steps without are two loops: a training, and its evaluation.
    """
    quiet: list[bool] = []
    ran: set[bool] = set()
    for step in steps:
        if step.executes:
            ran.add(bool(step.updates))
        # Before anything ran, there was nothing to compile.
        quiet.append(not step.counts.compiles and bool(step.updates) in ran)
    settling = {bool(step.updates) for step, is_quiet in zip(steps, quiet, strict=True) if is_quiet}
    begun: set[bool] = set()
    steady: set[bool] = set()
    warming = []
    for step, is_quiet in zip(steps, quiet, strict=True):
        loop = bool(step.updates)
        if is_quiet or (loop not in settling and loop in begun):
            steady.add(loop)
        begun.add(loop)
        warming.append(loop not in steady)
    return warming


def _line(line: LineCounts, recording: Recording, steady: Sequence[Step]) -> TracedLine:
    place = (line.path, line.line)
    # Of a line of the evaluation, what it costs in a step of the training says nothing, nor the other way round.
    training = sum(place in step.lines for step in recording.steps if step.updates)
    other = sum(place in step.lines for step in recording.steps if not step.updates)
    trains = training >= other and training > 0
    own = [step for step in steady if bool(step.updates) == trains] if training or other else steady
    stretches = (*recording.steps, recording.rest)
    below = sorted({key[1] for step in stretches for key in step.library if key[0] == place})
    found = [_library_line(place, inner, recording, own) for inner in below]
    return TracedLine(
        total=line,
        per_step=_rates([step.lines.get(place, Counts()) for step in own]),
        early=_mean([step.early.get(place, 0) for step in own]),
        trains=trains,
        amounts=sum((step.amounts.get(place, Amounts()) for step in stretches), Amounts()),
        library=tuple(found),
    )


def _library_line(place: Place, inner: Place, recording: Recording, own: Sequence[Step]) -> LibraryLine:
    key = (place, inner)
    total = sum((step.library.get(key, Counts()) for step in (*recording.steps, recording.rest)), Counts())
    named = LineCounts(path=inner[0], line=inner[1], function=recording.library[inner], **msgspec.structs.asdict(total))
    return LibraryLine(total=named, per_step=_rates([step.library.get(key, Counts()) for step in own]))


def _executed(recording: Recording) -> Iterator[tuple[str, Place | None]]:
    lines = {(line.path, line.line) for line in recording.lines}
    for graph in recording.graphs:
        places = ((frame.path, frame.line) for frame in graph.frames)
        yield graph.hash, next((place for place in places if place in lines), None)


def _rates(counts: Sequence[Counts]) -> Rates | None:
    if not counts:
        return None
    return Rates(**{name: _mean([getattr(one, name) for one in counts]) for name in Counts.__struct_fields__})


def _mean(numbers: Sequence[int]) -> float:
    return round(sum(numbers) / len(numbers), 4) if numbers else 0.0


def _graphs(
    recording: Recording, warming: Sequence[bool], graphs: Sequence[Sequence[Instruction]]
) -> Iterator[CompiledGraph]:
    """Each compile, and after the warm-up what differs from the last one at its place.

    The compiler's dump is in the order of the compiles; where their numbers differ it can't be told which is which.
    """
    compiled = [
        (number, one) for number, step in enumerate((*recording.steps, recording.rest), 1) for one in step.compiled
    ]
    texts = list(graphs) if len(graphs) == len(compiled) else [()] * len(compiled)
    last: dict[tuple[Place | None, Place | None], int] = {}
    for index, (number, one) in enumerate(compiled):
        before = last.get((one.at, one.below))
        last[one.at, one.below] = index
        in_a_step = number <= len(recording.steps)
        differs = None
        if in_a_step and not warming[number - 1]:
            old = (compiled[before][1], texts[before]) if before is not None else None
            differs = _difference(old, one, texts[index])
        yield CompiledGraph(
            step=number if in_a_step else None,
            at=one.at,
            below=one.below,
            inputs=one.inputs,
            outputs=one.outputs,
            ops=sum(each.op not in _NO_OPS for each in texts[index]) or None,
            memory=one.memory,
            differs=differs,
        )


_NO_OPS = ("parameter", "constant", "tuple", "get-tuple-element")


def _difference(old: tuple[Compiled, Sequence[Instruction]] | None, new: Compiled, text: Sequence[Instruction]) -> str:
    if old is None:
        return "first graph of this line"
    if text:
        return difference(old[1], text)
    before = old[0]
    if (before.inputs, before.outputs) == (new.inputs, new.outputs):
        return "another graph with as many inputs and outputs"
    return f"{before.inputs} inputs and {before.outputs} outputs became {new.inputs} and {new.outputs}"
