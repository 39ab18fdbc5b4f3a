"""Findings held against a trace: which of them the real run shows, and which costs no rule found. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final, Literal

import msgspec

from xlalint.device.recording.attribution import Place
from xlalint.device.recording.counts import Counts
from xlalint.device.trace.steady_state import Rates, Trace, TracedLine, TracedProcess
from xlalint.findings.model import Diagnostic, Mode

CONFIRMED: Final = "confirmed"
NOT_SEEN: Final = "not seen"


class Confirmation(msgspec.Struct, frozen=True):
    """What became of one finding."""

    finding: Diagnostic
    verdict: Literal["confirmed", "not seen"]
    total: Counts
    """What its lines did in the whole run."""
    per_step: Rates | None
    reason: str = ""
    """Why it was not seen."""


class TraceReport(msgspec.Struct, frozen=True, kw_only=True):
    """A trace beside what the linter says. ``lines`` are those of all processes together."""

    trace: Trace
    lines: tuple[TracedLine, ...]
    confirmations: tuple[Confirmation, ...]
    unfound: tuple[TracedLine, ...]
    """Lines that cost and that no rule flags."""


def held_against(
    trace: Trace,
    diagnostics: Iterable[Diagnostic],
    linted: Collection[str],
    metrics_of: Callable[[str], frozenset[str]],
) -> TraceReport:
    """``metrics_of`` gives what the rule of a code claims to cost. Paths are those of the findings everywhere."""
    lines = together(trace.processes)
    ran = {(path, line) for one in trace.processes for path, numbers in one.ran.items() for line in numbers}
    found = tuple(diagnostics)
    confirmations = tuple(_confirmation(one, lines, ran, trace, metrics_of(one.code)) for one in found)
    flagged = {place for one in found for place in _places(one)}
    unfound = tuple(
        line for line in lines if line.total.path in linted and _costs(line, trace.mode) and _place(line) not in flagged
    )
    return TraceReport(trace=trace, lines=lines, confirmations=confirmations, unfound=unfound)


def together(processes: Sequence[TracedProcess]) -> tuple[TracedLine, ...]:
    """The lines of all processes. Their rates are added, too: a step is one of each."""
    lines: dict[Place, TracedLine] = {}
    for line in (line for process in processes for line in process.lines):
        place = _place(line)
        lines[place] = _sum(lines[place], line) if place in lines else line
    return tuple(lines[place] for place in sorted(lines))


def _sum(one: TracedLine, other: TracedLine) -> TracedLine:
    counts = _counts(one) + _counts(other)
    return TracedLine(
        total=msgspec.structs.replace(one.total, **msgspec.structs.asdict(counts)),
        per_step=_added([one.per_step, other.per_step]),
        early=one.early + other.early,
    )


def _confirmation(
    finding: Diagnostic, lines: Sequence[TracedLine], ran: set[Place], trace: Trace, metrics: frozenset[str]
) -> Confirmation:
    places = _places(finding)
    own = [line for line in lines if _place(line) in places]
    total = sum((_counts(line) for line in own), Counts())
    per_step = _added([line.per_step for line in own])
    claimed = metrics & set(Counts.__struct_fields__)
    if any(getattr(total if per_step is None else per_step, name) for name in claimed):
        return Confirmation(finding, CONFIRMED, total, per_step)
    return Confirmation(finding, NOT_SEEN, total, per_step, _reason(total, claimed, metrics, places & ran, ran, trace))


def _reason(
    total: Counts, claimed: frozenset[str], metrics: frozenset[str], of_it: set[Place], ran: set[Place], trace: Trace
) -> str:
    if ran and not of_it:
        return "its lines did not run"
    if not claimed:
        return f"a trace does not count {' or '.join(sorted(metrics)) or 'what it costs'}"
    if any(getattr(total, name) for name in claimed):
        return "only in the warm-up"
    if "compiles" in claimed and any(process.recompiles for process in trace.processes):
        return "graphs were compiled again, at other lines"
    return "it cost nothing there" if ran else "no cost was recorded there"


def _costs(line: TracedLine, mode: Mode | None) -> bool:
    """Uploads are left out: batches have to come. So are the graphs that a step's own end runs."""
    if line.per_step is None:
        return bool(line.total.reads or line.total.fallbacks)
    return bool(line.per_step.reads or line.per_step.fallbacks or (line.early and mode is not Mode.EAGER))


def _places(finding: Diagnostic) -> set[Place]:
    return {(finding.path, line) for line in range(finding.at.line, finding.at.end_line + 1)}


def _place(line: TracedLine) -> Place:
    return (line.total.path, line.total.line)


def _counts(line: TracedLine) -> Counts:
    return Counts(**{name: getattr(line.total, name) for name in Counts.__struct_fields__})


def _added(rates: Iterable[Rates | None]) -> Rates | None:
    known = [one for one in rates if one is not None]
    if not known:
        return None
    return Rates(**{name: sum(getattr(one, name) for one in known) for name in Rates.__struct_fields__})
