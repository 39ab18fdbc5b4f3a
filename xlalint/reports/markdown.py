"""Markdown for the summary of a CI job: the counts, and a table with a row for each root."""

from __future__ import annotations

from typing import Final

from xlalint.findings.model import Report
from xlalint.findings.roots import Group
from xlalint.reports.context import ReportContext, shown
from xlalint.reports.grouped import others_counted, shown_groups
from xlalint.reports.paths import relative_path
from xlalint.reports.summary import held_back_line, plural, profile_lines, summary_line
from xlalint.reports.terminal import shown_text
from xlalint.sources.patterns import lazy_pattern

MOST_ROWS: Final = 200
"""A summary of GitHub holds one mebibyte for each step, and a reader less."""
_CODE_SPAN = lazy_pattern(r"(?<!`)`[^`]+`(?!`)")
_MARKUP = lazy_pattern(r"[\\`*_\[\]<>#|~&@!]")


def render(report: Report, context: ReportContext) -> str:
    diagnostics = shown(report, context)
    groups = sorted(shown_groups(diagnostics), key=lambda one: -one.shown.severity)
    lines = ["## xlalint", "", _cell_text(summary_line(report, diagnostics))]
    lines += [f"\n{_cell_text(line)}" for line in filter(None, [held_back_line(report), *profile_lines(report)])]
    if groups:
        lines += ["", "| level | rule | place | finding | what to write |", "| --- | --- | --- | --- | --- |"]
        lines += (_row(group, context) for group in groups[:MOST_ROWS])
    if len(groups) > MOST_ROWS:
        lines += ["", f"{len(groups) - MOST_ROWS} more roots are not listed here."]
    if report.skipped:
        lines += ["", "### Not linted", ""]
        lines += [f"- {_cell_text(one.place)}: {_cell_text(one.reason)}" for one in report.skipped[:MOST_ROWS]]
        more = len(report.skipped) - MOST_ROWS
        lines += [f"- {plural(more, 'more')}"] if more > 0 else []
    return "".join(f"{line}\n" for line in lines)


def _row(group: Group, context: ReportContext) -> str:
    found = group.shown
    place = f"{relative_path(found.path, context)}:{found.at.line}"
    message = found.message + (f" ({others_counted(group)})" if group.others else "")
    cells = [found.severity.name.lower(), f"{found.code} {found.name}", place, message, found.help]
    return f"| {' | '.join(map(_cell_text, cells))} |"


def _cell_text(text: str) -> str:
    """Text that shows as it is: marks outside of spans of code are escaped, and bars that would end a cell."""
    parts = []
    end = 0
    line = shown_text(text)
    for span in _CODE_SPAN.finditer(line):
        parts += [_marks_escaped(line[end : span.start()]), span.group().replace("|", "\\|")]
        end = span.end()
    return "".join([*parts, _marks_escaped(line[end:])])


def _marks_escaped(text: str) -> str:
    return _MARKUP.sub(lambda match: "&amp;" if match[0] == "&" else f"\\{match[0]}", text)
