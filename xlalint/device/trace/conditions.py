"""What a user's CI forbids of a run: conditions, and which step and line meets one. Pure."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

import msgspec

from xlalint.device.recording.counts import Counts
from xlalint.device.recording.stretches import Place
from xlalint.device.trace.model import CompiledGraph, Trace, TracedProcess, TracedStep
from xlalint.device.trace.processes import name_of

_METRICS: Final[Mapping[str, str]] = MappingProxyType(
    {name: name for name in Counts.__struct_fields__} | {"graphs": "executions"}
)
_COMPARED: Final[Mapping[str, Callable[[float, float], bool]]] = MappingProxyType(
    {
        ">": operator.gt,
        ">=": operator.ge,
        "<": operator.lt,
        "<=": operator.le,
        "==": operator.eq,
        "!=": operator.ne,
    }
)
_FORM = re.compile(
    rf"(?P<metric>{'|'.join(_METRICS)})\s*(?P<sign>[<>]=?|[=!]=)\s*(?P<number>\d+(?:\.\d+)?)"
    r"(?P<each>\s+(?:a|per|in a|in each|in any)\s+step)?"
    r"(?:\s+after\s+(?:step\s+(?P<after>\d+)|(?P<steady>(?:the\s+)?warm-up)))?"
)
_SHOWN = 3
FORM: Final = "`METRIC > NUMBER [a step] [after step N | after the warm-up]`"


class NoCondition(Exception):
    """A text is none. One line."""


class Condition(msgspec.Struct, frozen=True):
    """Of a run, of the steps after one, or of any one of these."""

    text: str
    metric: str
    sign: str
    number: float
    a_step: bool
    after: int | None
    steady: bool
    """After the warm-up."""


def condition(text: str) -> Condition:
    found = _FORM.fullmatch(" ".join(text.split()))
    if found is None:
        raise NoCondition(f"`{text}` is no condition of the form {FORM}, with {', '.join(_METRICS)}")
    after = int(found["after"]) if found["after"] else None
    a_step = bool(found["each"])
    return Condition(
        text=" ".join(text.split()),
        metric=_METRICS[found["metric"]],
        sign=found["sign"],
        number=float(found["number"]),
        a_step=a_step,
        after=after,
        # The warm-up compiles and uploads the model, which no single step can be blamed for.
        steady=bool(found["steady"]) or (a_step and after is None),
    )


def met(one: Condition, trace: Trace) -> Iterator[str]:
    """A sentence for each process that meets it. A run of which it can't be said is one that meets it."""
    for process in trace.processes:
        where = f"{name_of(process)}: " if len(trace.processes) > 1 else ""
        yield from (f"{where}{text}" for text in _met(one, process))
    if not trace.processes:
        yield "no process used an XLA device"


def _met(one: Condition, process: TracedProcess) -> Iterator[str]:
    numbered = list(enumerate(process.steps, 1))
    if one.steady:
        numbered = [(number, step) for number, step in numbered if not step.warm_up]
    elif one.after is not None:
        numbered = numbered[one.after :]
    if (one.steady or one.after is not None) and not numbered:
        after = "the warm-up" if one.after is None else f"step {one.after}"
        yield f"no step came after {after}: the run has {len(process.steps)} in all"
    elif one.a_step:
        yield from _met_in_a_step(one, numbered, process)
    elif one.steady or one.after is not None:
        total = sum(getattr(step.counts, one.metric) for _, step in numbered)
        if _COMPARED[one.sign](total, one.number):
            yield f"{total} {one.metric}{_at(one.metric, numbered, process)}"
    elif _COMPARED[one.sign](total := getattr(process.totals, one.metric), one.number):
        yield f"{total} {one.metric}{_at(one.metric, numbered, process)}"


def _met_in_a_step(one: Condition, numbered: list[tuple[int, TracedStep]], process: TracedProcess) -> Iterator[str]:
    breaking = [
        (number, step) for number, step in numbered if _COMPARED[one.sign](getattr(step.counts, one.metric), one.number)
    ]
    if breaking:
        number, step = breaking[0]
        count = getattr(step.counts, one.metric)
        more = f" (and in {len(breaking) - 1} more of {len(numbered)} steps)" if len(breaking) > 1 else ""
        yield f"{count} {one.metric} in step {number}{more}{_at(one.metric, breaking[:1], process)}"


def _at(metric: str, numbered: list[tuple[int, TracedStep]], process: TracedProcess) -> str:
    """The lines that did it, those that did most first; of what compiles again, also why."""
    if metric == "compiles":
        numbers = {number for number, _ in numbered}
        found = [graph for graph in process.graphs if graph.step in numbers]
        if found:
            told = [
                f"step {graph.step} at {_graph_place(graph)}{f' ({graph.differs})' if graph.differs else ''}"
                for graph in found
            ]
            return f": {_listed(told)}"
    counts: dict[Place | None, int] = {}
    for _, step in numbered:
        for place, own in step.lines.items():
            counts[place] = counts.get(place, 0) + getattr(own, metric)
    ordered = sorted(((count, place) for place, count in counts.items() if count), key=lambda pair: -pair[0])
    return f": {_listed([f'{count} at {_shown(place)}' for count, place in ordered])}" if ordered else ""


def _graph_place(graph: CompiledGraph) -> str:
    return f"{_shown(graph.at)}{f', in {_shown(graph.below)}' if graph.below else ''}"


def _listed(parts: list[str]) -> str:
    more = f" and {len(parts) - _SHOWN} more" if len(parts) > _SHOWN else ""
    return "; ".join(parts[:_SHOWN]) + more


def _shown(place: Place | None) -> str:
    return f"{place[0]}:{place[1]}" if place else "no line of yours"
