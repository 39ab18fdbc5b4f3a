"""The full report for people: message, code frame, the chain of reasons, help."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import msgspec

from xlalint.facts.events import Certainty
from xlalint.findings.model import Diagnostic, Evidence, Position, Report, Safety, Verdict
from xlalint.findings.roots import Group, cause_of
from xlalint.reports import evidence
from xlalint.reports.chains import Chains, shortened_chain
from xlalint.reports.context import ReportContext, shown
from xlalint.reports.grouped import others_told, shown_groups
from xlalint.reports.ranking import SHORT_LIST, Ranked, most_costly
from xlalint.reports.summary import held_back_line, profile_lines, summary_line
from xlalint.reports.terminal import Style, columns, painted, severity_style, shown_text

# A line of generated code can be megabytes long: this much of it is shown, with some text before the caret.
_MOST_CHARACTERS = 200
_LEAD_IN = 60


def render(report: Report, context: ReportContext) -> str:
    diagnostics = shown(report, context)
    # Findings come file by file: one text at hand is enough.
    context = msgspec.structs.replace(context, sources=lru_cache(maxsize=1)(context.sources))
    shown_as = shown_groups(diagnostics)
    chains: Chains = {}
    first = {group.shown.code: group for group in reversed(shown_as)} if not context.quiet else {}
    blocks = [
        "\n".join(_block(group, context, chains, names_page=first.get(group.shown.code) is group)) for group in shown_as
    ]
    if not context.quiet:
        summary = painted(summary_line(report, diagnostics), Style.BOLD, context.color)
        beside = filter(None, [held_back_line(report), *profile_lines(report)])
        blocks.append("\n".join([summary, *map(shown_text, beside)]))
        if len(shown_as) > SHORT_LIST:
            blocks.extend(_ranking(shown_as, context))
    return "\n\n".join(blocks) + "\n" if blocks else ""


def _ranking(shown_as: Sequence[Group], context: ReportContext) -> Iterator[str]:
    """The roots that cost most, so that a long list has a beginning."""
    ranked = most_costly(shown_as, context.measured)
    if ranked:
        head = f"What costs most, of {len(shown_as)} roots (by figures of the CPU device: docs/reports.md):"
        lines = [painted(head, Style.BOLD, context.color)]
        lines += (f"  {number}. {shown_text(_told(one))}" for number, one in enumerate(ranked, start=1))
        yield "\n".join(lines)


def _told(one: Ranked) -> str:
    shown = one.group.shown
    count = len(one.group.members)
    places = f", {count} places by {cause_of(shown).text}" if count > 1 else ""
    return f"{shown.path}:{shown.at.line} {shown.code} {shown.name}{places}: {one.told}"


def _block(group: Group, context: ReportContext, chains: Chains, *, names_page: bool = False) -> Iterator[str]:
    """``names_page``: the first finding of a rule says how to read its page."""
    diagnostic = group.shown
    color = context.color
    gutter = len(str(diagnostic.at.line))
    yield _headline(diagnostic, color)
    place = f"{shown_text(diagnostic.path)}:{diagnostic.at.line}:{diagnostic.at.column}"
    yield f"{' ' * gutter}{painted('-->', Style.GUTTER, color)} {place}"
    yield from _frame(diagnostic, context)
    for label, style, text in _remarks(group, chains):
        bullet = painted("=", Style.GUTTER, color)
        yield f"{' ' * gutter} {bullet} {painted(label, style, color)}: {shown_text(text)}"
    if names_page:
        bullet = painted("=", Style.GUTTER, color)
        yield f"{' ' * gutter} {bullet} {painted('see', Style.HELP, color)}: `xlalint rule {diagnostic.code}`"
    if diagnostic.evidence is not None:
        yield from (f"{' ' * gutter} {line}" for line in _evidence(diagnostic.evidence, color))


def _headline(diagnostic: Diagnostic, color: bool) -> str:
    severity = painted(diagnostic.severity.name.lower(), severity_style(diagnostic.severity), color)
    rule = painted(f"{diagnostic.code} {diagnostic.name}", Style.BOLD, color)
    doubt = " (possible)" if diagnostic.certainty is Certainty.POSSIBLE else ""
    return f"{severity}: {rule}{doubt}: {shown_text(diagnostic.message)}"


def _remarks(group: Group, chains: Chains) -> Iterator[tuple[str, Style, str]]:
    diagnostic = group.shown
    for text in shortened_chain(diagnostic, chains):
        yield "note", Style.NOTE, text
    if group.others:
        yield "note", Style.NOTE, others_told(group)
    if diagnostic.help:
        yield "help", Style.HELP, diagnostic.help
    if diagnostic.fix is not None:
        caution = " (unsafe: it may change what the program does)" if diagnostic.fix.safety is Safety.UNSAFE else ""
        yield "suggestion", Style.HELP, diagnostic.fix.title + caution
    if diagnostic.suppressed is not None:
        yield "note", Style.NOTE, f"suppressed by `{diagnostic.suppressed}`"


def _evidence(found: Evidence, color: bool) -> Iterator[str]:
    bullet = painted("=", Style.GUTTER, color)
    style = Style.WARNING if found.verdict is Verdict.CONFIRMED else Style.NOTE
    verdict, _, reason = evidence.headline(found).partition(": ")
    yield f"{bullet} {painted(verdict, style, color)}: {shown_text(reason)}"
    yield from (f"      {shown_text(row)}" for row in evidence.table(found))
    if found.basis is not None:
        yield f"{bullet} {painted('basis', Style.NOTE, color)}: {evidence.basis(found)}"
    yield from (f"      {shown_text(each)}" for each in evidence.assumptions(found))


def _frame(diagnostic: Diagnostic, context: ReportContext) -> Iterator[str]:
    lines = context.sources(diagnostic.path)
    if lines is None or not 1 <= diagnostic.at.line <= len(lines):
        return
    code, carets = _marked(lines[diagnostic.at.line - 1], diagnostic.at)
    number = str(diagnostic.at.line)
    edge = painted(f"{' ' * len(number)} |", Style.GUTTER, context.color)
    indent = len(carets) - len(carets.lstrip())
    marks = " " * indent + painted(carets.lstrip(), severity_style(diagnostic.severity), context.color)
    yield edge
    yield f"{painted(f'{number} |', Style.GUTTER, context.color)} {code}"
    yield f"{edge} {marks}"
    yield edge


def _marked(line: str, at: Position) -> tuple[str, str]:
    """The line as shown, and the line of carets under it; of a finding over several lines the first is marked."""
    line = line.rstrip()
    start = min(at.column - 1, len(line))
    end = len(line) if at.end_line > at.line else min(at.end_column - 1, len(line))
    first = max(0, start - _LEAD_IN) if len(line) > _MOST_CHARACTERS else 0
    part = line[first : first + _MOST_CHARACTERS]
    text, starts = columns(part)
    left = starts[start - first]
    right = starts[min(end - first, len(part))]
    before = "…" if first else ""
    after = "…" if first + len(part) < len(line) else ""
    return before + text + after, " " * (left + len(before)) + "^" * max(1, right - left)
