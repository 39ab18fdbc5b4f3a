"""A trace for programs: one JSON object. It holds several modes, and several processes, separately."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from xlalint.device.recording.counts import Counts
from xlalint.device.trace.confirmation import Confirmation, TraceReport
from xlalint.device.trace.steady_state import Rates, TracedLine, TracedProcess

SCHEMA_VERSION: Final = 1


def render(reports: Sequence[TraceReport]) -> str:
    """The first report; with more than one, all of them under ``modes``."""
    document = {"schema_version": SCHEMA_VERSION, **_report_data(reports[0])}
    if len(reports) > 1:
        document["modes"] = [_report_data(report) for report in reports]
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _report_data(report: TraceReport) -> dict[str, Any]:
    trace = report.trace
    processes = trace.processes
    return {
        "mode": trace.mode.value if trace.mode else None,
        "exit_code": trace.status,
        "complete": all(process.complete for process in processes),
        "steps": max((process.steps for process in processes), default=0),
        "warm_up": max((process.warm_up for process in processes), default=0),
        "totals": _count_data(trace.totals),
        "lines": [_line_data(line) for line in report.lines],
        "unattributed": _count_data(sum((process.unattributed for process in processes), Counts())),
        "findings": [_confirmation_data(one) for one in report.confirmations],
        "unfound": [_line_data(line) for line in report.unfound],
        "recompiles": [one for process in processes for one in _recompile_data(process)],
        "processes": [_process_data(process) for process in processes],
    }


def _process_data(process: TracedProcess) -> dict[str, Any]:
    return {
        "rank": process.rank,
        "pid": process.pid,
        "complete": process.complete,
        "steps": process.steps,
        "warm_up": process.warm_up,
        "totals": _count_data(process.totals),
        "per_step": _count_data(process.per_step),
        "each_step": [_count_data(counts) for counts in process.each_step],
        "lines": [_line_data(line) for line in process.lines],
        "unattributed": _count_data(process.unattributed),
    }


def _recompile_data(process: TracedProcess) -> list[dict[str, Any]]:
    return [
        {
            "rank": process.rank,
            "step": one.step,
            "path": one.at[0] if one.at else None,
            "line": one.at[1] if one.at else None,
            "differs": one.differs,
        }
        for one in process.recompiles
    ]


def _line_data(line: TracedLine) -> dict[str, Any]:
    data: dict[str, Any] = msgspec.structs.asdict(line.total)
    return {**data, "per_step": _count_data(line.per_step)}


def _confirmation_data(one: Confirmation) -> dict[str, Any]:
    return {
        "path": one.finding.path,
        "line": one.finding.at.line,
        "code": one.finding.code,
        "name": one.finding.name,
        "message": one.finding.message,
        "fingerprint": one.finding.fingerprint,
        "verdict": one.verdict,
        "reason": one.reason or None,
        "total": _count_data(one.total),
        "per_step": _count_data(one.per_step),
    }


def _count_data(counts: Counts | Rates | None) -> dict[str, Any] | None:
    return msgspec.structs.asdict(counts) if counts is not None else None
