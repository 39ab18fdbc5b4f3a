"""One line per finding, for editors and grep."""

from __future__ import annotations

from collections.abc import Iterator

from xlalint.findings.model import Diagnostic, Report
from xlalint.findings.roots import Group, cause_of
from xlalint.reports import evidence
from xlalint.reports.context import ReportContext, shown
from xlalint.reports.grouped import line_of, others_counted, shown_groups
from xlalint.reports.terminal import Style, painted, severity_style, shown_text


def render(report: Report, context: ReportContext) -> str:
    diagnostics = shown(report, context)
    remarks = {id(one): remark for group in shown_groups(diagnostics) for one, remark in _asides(group)}
    lines = (_line(one, remarks.get(id(one), ""), context.color) for one in diagnostics)
    return "".join(f"{line}\n" for line in lines)


def _asides(group: Group) -> Iterator[tuple[Diagnostic, str]]:
    """Each place keeps its line, for an editor marks all of them; the first tells of the others, these name it."""
    if group.others:
        yield group.shown, f" ({others_counted(group)})"
        first = group.shown
        for one in group.others:
            yield one, f" (by {cause_of(one).text}, as {line_of(first, one.path)})"


def _line(diagnostic: Diagnostic, remark: str, color: bool) -> str:
    place = f"{shown_text(diagnostic.path)}:{diagnostic.at.line}:{diagnostic.at.column}"
    code = painted(diagnostic.code, Style.BOLD, color)
    severity = painted(diagnostic.severity.name.lower(), severity_style(diagnostic.severity), color)
    proved = f" ({evidence.headline(diagnostic.evidence)})" if diagnostic.evidence is not None else ""
    return f"{place}: {code} [{severity}] {shown_text(diagnostic.message + remark + proved)}"
