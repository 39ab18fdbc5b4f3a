"""One line per finding, for editors and grep."""

from __future__ import annotations

from xlalint.findings.model import Diagnostic, Report
from xlalint.reports import evidence
from xlalint.reports.context import ReportContext, shown
from xlalint.reports.terminal import Style, painted, severity_style, shown_text


def render(report: Report, context: ReportContext) -> str:
    return "".join(f"{_line(diagnostic, context.color)}\n" for diagnostic in shown(report, context))


def _line(diagnostic: Diagnostic, color: bool) -> str:
    place = f"{shown_text(diagnostic.path)}:{diagnostic.at.line}:{diagnostic.at.column}"
    code = painted(diagnostic.code, Style.BOLD, color)
    severity = painted(diagnostic.severity.name.lower(), severity_style(diagnostic.severity), color)
    proved = f" ({evidence.headline(diagnostic.evidence)})" if diagnostic.evidence is not None else ""
    return f"{place}: {code} [{severity}] {shown_text(diagnostic.message + proved)}"
