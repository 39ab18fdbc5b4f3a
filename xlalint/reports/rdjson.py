"""Reviewdog's Diagnostic Format, one object (github.com/reviewdog/reviewdog, proto/rdf/reviewdog.proto).

Its columns count bytes of UTF-8, from 1; ours count characters.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from xlalint.findings.model import Diagnostic, Position, Report, Safety, Severity, Skipped
from xlalint.reports.address import help_uri, information_uri
from xlalint.reports.context import ReportContext, shown
from xlalint.reports.paths import relative_path

_SEVERITIES: Final = {Severity.ERROR: "ERROR", Severity.WARNING: "WARNING", Severity.NOTE: "INFO"}
Lines = Callable[[str], list[str] | None]


def render(report: Report, context: ReportContext) -> str:
    lines: Lines = lru_cache(16)(context.sources)
    told = [
        *(_diagnostic(one, context, lines) for one in shown(report, context)),
        *(_skipped_diagnostic(one, context) for one in report.skipped),
    ]
    address = information_uri()
    document = {
        "source": {"name": "xlalint", **({"url": address} if address else {})},
        "severity": "WARNING",
        "diagnostics": told,
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _diagnostic(found: Diagnostic, context: ReportContext, lines: Lines) -> dict[str, object]:
    parts = [found.message, f"Help: {found.help}" if found.help else ""]
    if found.fix is not None and found.fix.safety is Safety.UNSAFE:
        parts.append("The suggestion may change what the program does: read it before you take it.")
    told: dict[str, object] = {
        "message": "\n\n".join(filter(None, parts)),
        "location": {
            "path": relative_path(found.path, context),
            "range": _byte_range(found.at, lines(found.path)),
        },
        "severity": _SEVERITIES[found.severity],
        "code": {"value": found.code, **({"url": url} if (url := help_uri(found.code)) else {})},
    }
    if found.fix is not None:
        told["suggestions"] = [
            {"range": _byte_range(edit.at, lines(found.path)), "text": edit.content} for edit in found.fix.edits
        ]
    if found.why:
        told["related_locations"] = [
            {
                "message": reason.text,
                "location": {
                    "path": relative_path(reason.path, context),
                    "range": {"start": _byte_point(reason.line, reason.column, lines(reason.path))},
                },
            }
            for reason in found.why
        ]
    return told


def _skipped_diagnostic(skipped: Skipped, context: ReportContext) -> dict[str, object]:
    return {
        "message": f"not linted: {skipped.reason}",
        "location": {
            "path": relative_path(skipped.path, context),
            **({"range": {"start": {"line": skipped.line}}} if skipped.line else {}),
        },
        "severity": "WARNING",
    }


def _byte_range(at: Position, lines: list[str] | None) -> dict[str, object]:
    return {"start": _byte_point(at.line, at.column, lines), "end": _byte_point(at.end_line, at.end_column, lines)}


def _byte_point(line: int, column: int, lines: list[str] | None) -> dict[str, int]:
    before = lines[line - 1][: column - 1] if lines is not None and 1 <= line <= len(lines) else ""
    return {"line": line, "column": column + len(before.encode("utf-8", "surrogatepass")) - len(before)}
