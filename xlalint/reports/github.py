"""Workflow commands: GitHub Actions turns each line into an annotation."""

from __future__ import annotations

from typing import Final

from xlalint.findings.model import Report, Severity, Skipped
from xlalint.findings.roots import Group
from xlalint.reports import evidence
from xlalint.reports.context import ReportContext, shown
from xlalint.reports.grouped import others_told, shown_groups

_COMMANDS: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render(report: Report, context: ReportContext) -> str:
    told = [*map(_command, shown_groups(shown(report, context))), *map(_skipped_command, report.skipped)]
    return "".join(f"{line}\n" for line in told)


def _skipped_command(skipped: Skipped) -> str:
    """What was not linted stands beside the findings, or nobody who reads a pull request would know."""
    line = f",line={skipped.line}" if skipped.line else ""
    title, text = _property("xlalint (not linted)"), _escaped(f"{skipped.place}: {skipped.reason}")
    return f"::warning file={_property(skipped.path)}{line},title={title}::{text}"


def _command(group: Group) -> str:
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
    return f"::{_COMMANDS[diagnostic.severity]} {listed}::{_escaped(text)}"


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")
