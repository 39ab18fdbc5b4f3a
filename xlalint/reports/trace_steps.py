"""Of a trace for people: what one process did, step by step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from xlalint.device.recording.counts import Counts
from xlalint.device.trace.model import Rates, TracedLine, TracedProcess, TracedStep
from xlalint.reports.trace_words import amount, figure, listed, place_name, times, words, words_in_all

_MOST_ROWS = 12
_ROWS_OF_MANY = 8
_KINDS = 5
_SYNC = "`torch_xla.sync()` at the end of each turn of the loop would run it as one graph"


def process_lines(process: TracedProcess, name: str | None) -> Iterator[str]:
    """``name`` stands above it where there are several."""
    if name is not None:
        yield ""
        yield name
    if not process.complete:
        yield "The process ended before its end was recorded: these are the counts until then."
    yield f"In all: {words_in_all(process.totals, process.amounts)}."
    if not process.steps:
        yield from _without_steps(process)
        return
    yield from _by_step(process.steps)
    if process.rest != Counts():
        yield f"  after the last step: {words(process.rest)}"
    if process.unbounded:
        every = process.unbounded == len(process.steps)
        many = "No step ends" if every else f"Of the steps, {process.unbounded} do not end"
        yield f"{many} at a step boundary: the optimizer's are told, and ops pile up until a value is wanted. {_SYNC}."
    if process.per_step is not None:
        yield _steady_summary(process, process.per_step)
    yield from _of_other_steps(process.steps)


def _without_steps(process: TracedProcess) -> Iterator[str]:
    yield "No step boundary was passed, so there are no figures by step."
    again = sorted((line for line in process.lines if line.total.executions > 1), key=_executions, reverse=True)
    if again:
        told = [f"{line.total.executions} at {place_name((line.total.path, line.total.line))}" for line in again[:3]]
        yield (
            f"A loop without a step boundary: graphs ran because a value was wanted, {listed(told)}. {_SYNC}; "
            "`--step-at FILE:LINE` says where a turn begins."
        )


def _executions(line: TracedLine) -> int:
    return line.total.executions


def _by_step(steps: Sequence[TracedStep]) -> Iterator[str]:
    mixed = len({step.trains for step in steps}) > 1
    groups: list[tuple[int, list[TracedStep]]] = []
    first = 1
    for _, group in groupby(steps, key=lambda step: (step.counts, step.trains)):
        members = list(group)
        groups.append((first, members))
        first += len(members)
    told = groups if len(groups) <= _MOST_ROWS else groups[:_ROWS_OF_MANY]
    for first, members in told:
        last = first + len(members) - 1
        name = f"step {first}" if first == last else f"steps {first} to {last}, each"
        aside = [
            "warm-up" if members[-1].warm_up else "",
            "no optimizer step" if mixed and not members[0].trains else "",
        ]
        note = f" ({', '.join(filter(None, aside))})" if any(aside) else ""
        yield f"  {name}{note}: {words(members[0].counts)}"
    if len(told) < len(groups):
        yield from _of_the_others([step for _, members in groups[len(told) :] for step in members])


def _of_the_others(steps: Sequence[TracedStep]) -> Iterator[str]:
    """Where each step is another than the one before it, the list says no more: how often what is done."""
    mixed = len({step.trains for step in steps}) > 1
    counted = Counter((step.counts, step.trains) for step in steps).most_common()
    for (counts, trains), many in counted[:_KINDS]:
        note = " (no optimizer step)" if mixed and not trains else ""
        yield f"  {many} of the other {len(steps)} steps{note}, each: {words(counts)}"
    if len(counted) > _KINDS:
        yield f"  {len(steps) - sum(many for _, many in counted[:_KINDS])} of them otherwise"


def _steady_summary(process: TracedProcess, rates: Rates) -> str:
    """What a steady step does, and what it would do without the lines that want values early."""
    text = f"A steady step runs {amount(rates.executions, 'graph')}"
    if process.totals.reads:
        text += f" and reads the host {times(rates.reads)}" if rates.reads else " and never reads the host"
    if rates.compiles:
        text += f", and compiles {amount(rates.compiles, 'graph')} again"
    trains = any(step.trains for step in process.steps if not step.warm_up)
    early = [line for line in process.lines if line.early and line.trains == trains]
    if not early or not process.early or process.unbounded:
        return f"{text}."
    places = [(line.total.path, line.total.line) for line in early]
    in_one_file = len({path for path, _ in places}) == 1
    names = [str(place[1]) if in_one_file else place_name(place) for place in places]
    word = "line" if len(early) == 1 else "lines"
    return f"{text}; without {word} {listed(names)} it would run {figure(rates.executions - process.early)}."


def _of_other_steps(steps: Sequence[TracedStep]) -> Iterator[str]:
    """Of the loops without an optimizer, where there is one with."""
    steady = [step for step in steps if not step.warm_up]
    others = [step.counts for step in steady if not step.trains]
    if others and len(others) < len(steady):
        mean = {name: sum(getattr(one, name) for one in others) / len(others) for name in Counts.__struct_fields__}
        yield f"One without an optimizer's step: {words(Rates(**mean))}."
