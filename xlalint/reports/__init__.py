"""Reports: findings in, text out; one format one module, loaded when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Final

from xlalint.findings.model import Report
from xlalint.reports.context import ReportContext, RuleCard

__all__ = ["FORMATS", "ReportContext", "RuleCard", "UnknownFormatError", "render"]

# By name, so that `text` does not pay for what SARIF imports.
FORMATS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "text": "xlalint.reports.text",
        "concise": "xlalint.reports.concise",
        "json": "xlalint.reports.json_report",
        "sarif": "xlalint.reports.sarif",
        "github": "xlalint.reports.github",
    }
)

# The other formats are read by programs: statistics would replace what they look for.
_COUNTED: Final = frozenset({"text", "concise"})


class UnknownFormatError(ValueError):
    """No report has this name. The message is one line."""


def render(report: Report, format: str, *, context: ReportContext) -> str:
    """The report in one of ``FORMATS``: empty, or text that ends in a newline.

    With ``context.statistics`` the formats for people give the counts by code instead of the findings.
    Raises ``UnknownFormatError``.
    """
    if format not in FORMATS:
        raise UnknownFormatError(f"no output format `{format}`: one of {', '.join(FORMATS)}")
    module = "xlalint.reports.statistics" if context.statistics and format in _COUNTED else FORMATS[format]
    renderer: Callable[[Report, ReportContext], str] = import_module(module).render
    return _encodable(renderer(report, context))


def _encodable(text: str) -> str:
    """File names that are not UTF-8 hold lone surrogates, which no stream takes; ``\\udc80`` is also right JSON."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text
