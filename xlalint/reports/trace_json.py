"""A trace for programs: one JSON object. It holds several modes, and several processes, separately."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from xlalint.device.recording.counts import Amounts, Counts
from xlalint.device.recording.stretches import Place
from xlalint.device.trace.confirmation import Confirmation, TraceReport
from xlalint.device.trace.model import LibraryLine, Rates, TracedLine, TracedProcess

SCHEMA_VERSION: Final = 2


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
        "device": processes[0].device if processes else None,
        "exit_code": trace.status,
        "complete": all(process.complete for process in processes),
        "steps": max((len(process.steps) for process in processes), default=0),
        "warm_up": max((process.warm_up for process in processes), default=0),
        "totals": _count_data(trace.totals),
        "amounts": _amount_data(trace.amounts),
        "lines": [_line_data(line) for line in report.lines],
        "unattributed": _count_data(sum((process.unattributed for process in processes), Counts())),
        "findings": [_confirmation_data(one) for one in report.confirmations],
        "unfound": [_line_data(line) for line in report.unfound],
        "recompiles": [one for process in processes for one in _recompile_data(process)],
        "graph_breaks": [one for process in processes for one in _break_data(process)],
        "differences": list(report.differences),
        "processes": [_process_data(process) for process in processes],
    }


def _process_data(process: TracedProcess) -> dict[str, Any]:
    return {
        "rank": process.rank,
        "pid": process.pid,
        "log": process.log or None,
        "device": process.device,
        "devices": process.devices or None,
        "complete": process.complete,
        "steps": len(process.steps),
        "warm_up": process.warm_up,
        "unbounded": process.unbounded,
        "totals": _count_data(process.totals),
        "amounts": _amount_data(process.amounts),
        "per_step": _count_data(process.per_step),
        "each_step": [_count_data(step.counts) for step in process.steps],
        "updates": [step.updates for step in process.steps],
        "after_the_last_step": _count_data(process.rest),
        "lines": [_line_data(line) for line in process.lines],
        "unattributed": _count_data(process.unattributed),
        "graphs": [
            {
                "step": graph.step,
                **_place_data(graph.at),
                "ops": graph.ops,
                "inputs": graph.inputs,
                "outputs": graph.outputs,
                "gigabytes": graph.memory or None,
            }
            for graph in process.graphs
        ],
    }


def _recompile_data(process: TracedProcess) -> list[dict[str, Any]]:
    return [
        {"rank": process.rank, "step": one.step, **_place_data(one.at), "differs": one.differs}
        for one in process.recompiles
    ]


def _break_data(process: TracedProcess) -> Iterator[dict[str, Any]]:
    for one in process.breaks:
        place = (one.at.path, one.at.line) if one.at else None
        yield {"rank": process.rank, **_place_data(place), "reason": one.reason, "count": one.count}


def _line_data(line: TracedLine) -> dict[str, Any]:
    return {
        **msgspec.structs.asdict(line.total),
        "per_step": _count_data(line.per_step),
        "amounts": _amount_data(line.amounts),
        "library": [_library_data(one) for one in line.library],
    }


def _library_data(line: LibraryLine) -> dict[str, Any]:
    return {**msgspec.structs.asdict(line.total), "per_step": _count_data(line.per_step)}


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


def _place_data(place: Place | None) -> dict[str, Any]:
    return {"path": place[0] if place else None, "line": place[1] if place else None}


def _count_data(counts: Counts | Rates | None) -> dict[str, Any] | None:
    return msgspec.structs.asdict(counts) if counts is not None else None


def _amount_data(amounts: Amounts) -> dict[str, Any]:
    data = msgspec.structs.asdict(amounts)
    data["compile_seconds"] = round(amounts.compile_seconds, 3)
    return data
