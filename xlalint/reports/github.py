"""Workflow commands: GitHub Actions turns each line into an annotation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from xlalint.findings.model import Report, Severity, Skipped
from xlalint.findings.roots import Group
from xlalint.reports import evidence
from xlalint.reports.context import ReportContext, shown
from xlalint.reports.grouped import others_told, shown_groups
from xlalint.reports.terminal import shown_character, shown_text

_COMMANDS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}
_NOTICE: Final = "notice"
_FIRST: Final = 1_000


MOST_OF_A_KIND: Final = 10
"""So many errors, warnings and notices GitHub shows of one step."""


class _Told(NamedTuple):
    kind: str
    properties: str
    text: str

    @property
    def command(self) -> str:
        return f"::{self.kind} {self.properties}::{_escaped(self.text)}"


def render(report: Report, context: ReportContext) -> str:
    """The most severe and the hottest are annotations; the log has the others as plain lines, so that none is lost."""
    groups = shown_groups(shown(report, context))
    told = [*map(_annotation, groups), *map(_skipped_annotation, report.skipped)]
    # What was not linted goes first: a pull request that looks clean would not say it.
    ranks = [*(one.shown.heat.value for one in groups), *(_FIRST for _ in report.skipped)]
    kept = _annotated(told, ranks)
    lines = [one.command for at, one in enumerate(told) if at in kept]
    if len(kept) < len(told):
        left = len(told) - len(kept)
        text = f"GitHub shows {MOST_OF_A_KIND} annotations of a kind: {left} of {len(told)} stand in the log only"
        lines.append(_Told(_NOTICE, f"title={_property('xlalint')}", text).command)
        rest = (one for at, one in enumerate(told) if at not in kept)
        lines += (f"- {one.kind}: {' '.join(one.text.splitlines())}" for one in rest)
    return "".join(f"{line}\n" for line in lines)


def _annotated(told: Sequence[_Told], ranks: Sequence[int]) -> set[int]:
    """Which of them are annotations; where some are not, one notice is needed to say so."""
    by_kind: dict[str, list[int]] = {}
    for at in sorted(range(len(told)), key=lambda at: -ranks[at]):
        by_kind.setdefault(told[at].kind, []).append(at)
    is_cut = any(len(each) > MOST_OF_A_KIND for each in by_kind.values())
    room = {kind: MOST_OF_A_KIND - (is_cut and kind == _NOTICE) for kind in by_kind}
    return {at for kind, each in by_kind.items() for at in each[: room[kind]]}


def _skipped_annotation(skipped: Skipped) -> _Told:
    line = f",line={skipped.line}" if skipped.line else ""
    title = _property("xlalint (not linted)")
    properties = f"file={_property(skipped.path)}{line},title={title}"
    return _Told("warning", properties, shown_text(f"{skipped.place}: {skipped.reason}"))


def _annotation(group: Group) -> _Told:
    """One annotation for each root: GitHub shows ten of a step."""
    diagnostic = group.shown
    at = diagnostic.at
    properties: dict[str, object] = {"file": diagnostic.path, "line": at.line}
    # The runner takes columns only where a range starts and ends on one line, and drops them elsewhere.
    if at.line == at.end_line:
        properties |= {"col": at.column, "endLine": at.end_line, "endColumn": at.end_column}
    else:
        properties["endLine"] = at.end_line
    properties["title"] = f"xlalint ({diagnostic.code} {diagnostic.name})"
    listed = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    # The job's log shows the message without its place.
    text = f"{diagnostic.path}:{at.line}:{at.column}: {diagnostic.code} {diagnostic.message}"
    if diagnostic.evidence is not None:
        text += f"\n{evidence.headline(diagnostic.evidence)}"
    if group.others:
        text += f"\n{others_told(group)}"
    if diagnostic.help:
        text += f"\nhelp: {diagnostic.help}"
    shown_lines = "\n".join(shown_text(line) for line in text.split("\n"))
    return _Told(_COMMANDS[diagnostic.severity], listed, shown_lines)


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    # A line end of a file name is part of it; what would colour or reverse the log is not to be obeyed.
    plain = "".join(character if character in "\r\n" else shown_character(character) for character in text)
    return _escaped(plain).replace(":", "%3A").replace(",", "%2C")
