"""Findings held against a trace: which of them the real run shows, and which costs no rule found. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Final, Literal

import msgspec

from xlalint.device.recording.counts import Counts, LineCounts
from xlalint.device.recording.stretches import Place
from xlalint.device.trace.model import LibraryLine, Rates, Trace, TracedLine, TracedProcess
from xlalint.device.trace.processes import differences
from xlalint.findings.model import Diagnostic, Mode

CONFIRMED: Final = "confirmed"
WARM_UP_ONLY: Final = "warm-up only"
OTHER_COST: Final = "other cost"
NOT_SEEN: Final = "not seen"
_OF_A_LOG = frozenset({"compiles", "executions"})
"""What a debug log tells."""


class Confirmation(msgspec.Struct, frozen=True):
    """What became of one finding."""

    finding: Diagnostic
    verdict: Literal["confirmed", "warm-up only", "other cost", "not seen"]
    """*Not seen* is never said of lines that the table shows: what they cost is another cost, or of the warm-up."""
    total: Counts
    """What its lines did in the whole run."""
    per_step: Rates | None
    reason: str = ""
    """Why it is not confirmed."""


class TraceReport(msgspec.Struct, frozen=True, kw_only=True):
    """A trace beside what the linter says. ``lines`` are those of all processes together."""

    trace: Trace
    lines: tuple[TracedLine, ...]
    confirmations: tuple[Confirmation, ...]
    unfound: tuple[TracedLine, ...]
    """Lines that cost and that no rule flags."""
    differences: tuple[str, ...] = ()
    """Which process does something else than the others."""


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
    return TraceReport(
        trace=trace,
        lines=lines,
        confirmations=confirmations,
        unfound=unfound,
        differences=tuple(differences(trace.processes)),
    )


def together(processes: Sequence[TracedProcess]) -> tuple[TracedLine, ...]:
    """The lines of all processes. Their rates are added, too: a step is one of each."""
    lines: dict[Place, TracedLine] = {}
    for line in (line for process in processes for line in process.lines):
        place = _place(line)
        lines[place] = _sum(lines[place], line) if place in lines else line
    return tuple(lines[place] for place in sorted(lines))


def _sum(one: TracedLine, other: TracedLine) -> TracedLine:
    counts = _counts(one.total) + _counts(other.total)
    return TracedLine(
        total=msgspec.structs.replace(one.total, **msgspec.structs.asdict(counts)),
        per_step=_added([one.per_step, other.per_step]),
        early=one.early + other.early,
        trains=one.trains or other.trains,
        amounts=one.amounts + other.amounts,
        library=_library([*one.library, *other.library]),
    )


def _library(lines: Sequence[LibraryLine]) -> tuple[LibraryLine, ...]:
    found: dict[Place, LibraryLine] = {}
    for line in lines:
        place = (line.total.path, line.total.line)
        before = found.get(place)
        if before is not None:
            counts = _counts(before.total) + _counts(line.total)
            total = msgspec.structs.replace(line.total, **msgspec.structs.asdict(counts))
            line = LibraryLine(total=total, per_step=_added([before.per_step, line.per_step]))
        found[place] = line
    return tuple(found[place] for place in sorted(found))


def _confirmation(
    finding: Diagnostic, lines: Sequence[TracedLine], ran: set[Place], trace: Trace, metrics: frozenset[str]
) -> Confirmation:
    places = _places(finding)
    own = [line for line in lines if _place(line) in places]
    total = sum((_counts(line.total) for line in own), Counts())
    per_step = _added([line.per_step for line in own])
    claimed = metrics & set(Counts.__struct_fields__)
    shown = total if per_step is None else per_step
    # A log has no reads: a graph that ran because the line wanted a value is one.
    early = trace.mode is None and "reads" in claimed and any(line.early for line in own)
    if early or any(getattr(shown, name) for name in claimed):
        return Confirmation(finding, CONFIRMED, total, per_step)
    if any(getattr(total, name) for name in claimed):
        return Confirmation(finding, WARM_UP_ONLY, total, per_step, "no such cost in the steady steps")
    if total != Counts():
        return Confirmation(finding, OTHER_COST, total, per_step, _other_cost(claimed, metrics, trace))
    return Confirmation(finding, NOT_SEEN, total, per_step, _reason(claimed, metrics, places & ran, ran, trace))


def _other_cost(claimed: frozenset[str], metrics: frozenset[str], trace: Trace) -> str:
    told = claimed & _OF_A_LOG if trace.mode is None else claimed
    if not claimed:
        return f"a trace does not count {_either(metrics) or 'what the finding is about'}"
    return f"no {_either(told)}" if told else f"a debug log does not tell of {_either(claimed)}"


def _either(names: Iterable[str]) -> str:
    return " or ".join(sorted(names))


def _reason(claimed: frozenset[str], metrics: frozenset[str], of_it: set[Place], ran: set[Place], trace: Trace) -> str:
    if ran and not of_it:
        return "its lines did not run"
    if not claimed:
        return f"a trace does not count {_either(metrics) or 'what it costs'}"
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


def _counts(line: LineCounts) -> Counts:
    return Counts(**{name: getattr(line, name) for name in Counts.__struct_fields__})


def _added(rates: Iterable[Rates | None]) -> Rates | None:
    known = [one for one in rates if one is not None]
    if not known:
        return None
    return Rates(**{name: sum(getattr(one, name) for one in known) for name in Rates.__struct_fields__})
