"""The data that a report needs beside the findings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import msgspec

from xlalint.findings.model import Diagnostic, Report, Severity


class RuleCard(msgspec.Struct, frozen=True, kw_only=True):
    """The data of a rule that a report may show."""

    code: str
    name: str
    family: str
    severity: Severity
    description: str
    """One sentence."""
    page: str
    """The whole page, Markdown."""
    precision: str = "high"
    """How often a finding is true, in GitHub's words: ``very-high``, ``high``, ``medium`` or ``low``."""


class ReportContext(msgspec.Struct, frozen=True, kw_only=True):
    """How and for whom a report is written.

    ``sources`` gives the lines of a file by its path as the findings name it, as the tokenizer counts them, or
    None when there are none to be had.
    """

    version: str
    sources: Callable[[str], list[str] | None]
    rules: Mapping[str, RuleCard] = MappingProxyType({})
    measured: Mapping[str, Mapping[str, float]] = MappingProxyType({})
    """By the code of a rule what its page shows: metric → more of it in each step."""
    working_directory: str = ""
    """Absolute; only to make paths relative."""
    color: bool = False
    quiet: bool = False
    """Findings and no summary."""
    statistics: bool = False
    ignore_suppressions: bool = False
    """Suppressed findings are reported like all others."""


def shown(report: Report, context: ReportContext) -> tuple[Diagnostic, ...]:
    """The findings that count: all that no comment suppresses."""
    if context.ignore_suppressions:
        return report.diagnostics
    return tuple(diagnostic for diagnostic in report.diagnostics if diagnostic.suppressed is None)
