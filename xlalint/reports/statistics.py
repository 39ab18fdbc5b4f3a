"""How often each rule was found, for ``--statistics``."""

from __future__ import annotations

import json
from collections.abc import Iterable

import msgspec

from xlalint.findings.model import Diagnostic, Report
from xlalint.reports.context import ReportContext, shown
from xlalint.reports.summary import plural, summary_line
from xlalint.reports.terminal import Style, painted


class Count(msgspec.Struct, frozen=True):
    """One row; ``msgspec.to_builtins`` makes it JSON."""

    code: str
    name: str
    findings: int
    files: int


def counts(diagnostics: Iterable[Diagnostic]) -> tuple[Count, ...]:
    """By code, the most frequent first."""
    by_code: dict[str, list[Diagnostic]] = {}
    for diagnostic in diagnostics:
        by_code.setdefault(diagnostic.code, []).append(diagnostic)
    rows = [
        Count(code, found[0].name, len(found), len({diagnostic.path for diagnostic in found}))
        for code, found in by_code.items()
    ]
    return tuple(sorted(rows, key=lambda row: (-row.findings, row.code)))


def render_json(report: Report, context: ReportContext) -> str:
    """The counts for programs: ``statistics`` in place of the findings."""
    diagnostics = shown(report, context)
    document = {
        "tool": {"name": "xlalint", "version": context.version},
        "statistics": msgspec.to_builtins(counts(diagnostics)),
        "summary": {"files": report.files, "findings": len(diagnostics), "skipped": len(report.skipped)},
    }
    return json.dumps(document, indent=2) + "\n"


def render(report: Report, context: ReportContext) -> str:
    diagnostics = shown(report, context)
    lines = _table(counts(diagnostics), context.color)
    if not context.quiet:
        lines.append(painted(summary_line(report, diagnostics), Style.BOLD, context.color))
    return "".join(f"{line}\n" for line in lines)


def _table(rows: tuple[Count, ...], color: bool) -> list[str]:
    if not rows:
        return []
    digits = max(len(str(row.findings)) for row in rows)
    width = max(len(row.name) for row in rows)
    return [
        f"{row.findings:>{digits}}  {painted(row.code, Style.BOLD, color)}  {row.name:<{width}}  "
        f"in {plural(row.files, 'file')}"
        for row in rows
    ]
