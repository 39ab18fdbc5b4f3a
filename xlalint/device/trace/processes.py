"""Which process of a launch does something else than the others. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from xlalint.device.trace.model import TracedProcess, TracedStep

_SHOWN = 5


def name_of(process: TracedProcess) -> str:
    if process.log:
        return process.log
    return f"rank {process.rank}" if process.rank is not None else f"process {process.pid}"


def differences(processes: Sequence[TracedProcess]) -> Iterator[str]:
    """Devices wait for each other where they exchange data, so each must run the same graphs in the same order."""
    if len(processes) < 2:
        return
    told = [one for one in processes if one.executed]
    if len(told) > 1:
        yield from _in_graphs(told)
    elif not told:
        yield from _in_counts(processes)


def _in_graphs(processes: Sequence[TracedProcess]) -> Iterator[str]:
    for one in _unlike(processes, [tuple(text for text, _ in each.executed) for each in processes]):
        name, others = name_of(one.process), _others(processes)
        if one.first is None:
            yield f"{name} ran {len(one.own)} graphs, {others} {len(one.usual)}"
        else:
            at = one.process.executed[one.first][1]
            where = f", at {at[0]}:{at[1]}" if at else ""
            yield f"{name}: from its graph {one.first + 1} on{where}, it runs others than {others}"


def _in_counts(processes: Sequence[TracedProcess]) -> Iterator[str]:
    """Where no graphs are told: by what each step compiles and runs."""
    for one in _unlike(processes, [tuple(_figures(step) for step in each.steps) for each in processes]):
        name, others, first = name_of(one.process), _others(processes), one.first
        if first is None:
            yield f"{name} made {len(one.own)} steps, {others} {len(one.usual)}"
        else:
            yield f"{name}: {one.own[first]} in step {first + 1}, {others} {one.usual[first]}"


class _Unlike(NamedTuple):
    """A process that does not do what most do."""

    process: TracedProcess
    own: tuple[str, ...]
    usual: tuple[str, ...]
    first: int | None
    """Where the two first differ; None where one of them only goes on longer."""


def _unlike(processes: Sequence[TracedProcess], sequences: Sequence[tuple[str, ...]]) -> Iterator[_Unlike]:
    usual = _usual(sequences)
    for process, own in zip(processes, sequences, strict=True):
        if own != usual:
            pairs = zip(own, usual, strict=False)
            first = next((number for number, (one, other) in enumerate(pairs) if one != other), None)
            yield _Unlike(process, own, usual, first)


def _figures(step: TracedStep) -> str:
    return f"{step.counts.compiles} compiles and {step.counts.executions} graphs"


def _usual(sequences: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """What most do; where there is no majority, what the first does."""
    return Counter(sequences).most_common(1)[0][0]


def _others(processes: Sequence[TracedProcess]) -> str:
    return "the others" if len(processes) > 2 else "the other"
