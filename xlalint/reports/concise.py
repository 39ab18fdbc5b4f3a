"""One line per finding, for editors and grep."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from xlalint.findings.model import Diagnostic, Report
from xlalint.findings.roots import Group, cause_of
from xlalint.reports import evidence
from xlalint.reports.context import ReportContext, shown
from xlalint.reports.grouped import line_of, others_counted, shown_groups
from xlalint.reports.terminal import Style, painted, severity_style, shown_text

LONGEST: Final = 160
"""Characters of a line."""
_LEAST: Final = 20


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
    """At most ``LONGEST`` characters: the message gives up what is too much, and only a long path may exceed them."""
    place = f"{shown_text(diagnostic.path)}:{diagnostic.at.line}:{diagnostic.at.column}"
    severity = diagnostic.severity.name.lower()
    proved = f" ({evidence.headline(diagnostic.evidence)})" if diagnostic.evidence is not None else ""
    room = LONGEST - len(f"{place}: {diagnostic.code} [{severity}] ")
    aside = _shortened_to(shown_text(remark + proved), room // 2)
    text = _shortened_to(shown_text(diagnostic.message), room - len(aside)) + aside
    code = painted(diagnostic.code, Style.BOLD, color)
    return f"{place}: {code} [{painted(severity, severity_style(diagnostic.severity), color)}] {text}"


def _shortened_to(text: str, room: int) -> str:
    room = max(room, _LEAST)
    return text if len(text) <= room else text[: room - 1].rstrip() + "…"
