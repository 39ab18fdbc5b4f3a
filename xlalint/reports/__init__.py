"""Reports: findings in, text out; one format one module, loaded when it is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Final

from xlalint.findings.model import Report
from xlalint.reports.context import ReportContext, RuleCard

__all__ = ["FORMATS", "ReportContext", "RuleCard", "UnknownFormatError", "limits_met", "pieces", "render"]

# By name, so that `text` does not pay for what SARIF imports.
FORMATS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "text": "xlalint.reports.text",
        "concise": "xlalint.reports.concise",
        "json": "xlalint.reports.json_report",
        "sarif": "xlalint.reports.sarif",
        "github": "xlalint.reports.github",
        "gitlab": "xlalint.reports.gitlab",
        "junit": "xlalint.reports.junit",
        "rdjson": "xlalint.reports.rdjson",
        "markdown": "xlalint.reports.markdown",
    }
)

# The other formats are of other programs: statistics would replace what they look for.
_COUNTED: Final = frozenset({"text", "concise", "json"})


class UnknownFormatError(ValueError):
    """No report has this name. The message is one line."""


def render(report: Report, format: str, *, context: ReportContext) -> str:
    """The report in one of ``FORMATS``: empty, or text that ends in a newline.

    With ``context.statistics`` the formats for people, and JSON, give the counts by code instead of the findings.
    Raises ``UnknownFormatError``.
    """
    return "".join(pieces(report, format, context=context))


def pieces(report: Report, format: str, *, context: ReportContext) -> Iterator[str]:
    """The same piece by piece, so that a report of many findings need not be held as a whole."""
    if format not in FORMATS:
        raise UnknownFormatError(f"no output format `{format}`: one of {', '.join(FORMATS)}")
    if context.statistics and format in _COUNTED:
        module = import_module("xlalint.reports.statistics")
        yield _encodable(module.render_json(report, context) if format == "json" else module.render(report, context))
        return
    module = import_module(FORMATS[format])
    if hasattr(module, "written"):
        yield from map(_encodable, module.written(report, context))
    else:
        yield _encodable(module.render(report, context))


def limits_met(report: Report, format: str, *, context: ReportContext) -> str:
    """What a user should know that the report leaves out, as one line; empty where it has all."""
    module = import_module(FORMATS[format])
    return module.limit_met(report, context) if hasattr(module, "limit_met") else ""


def _encodable(text: str) -> str:
    """File names that are not UTF-8 hold lone surrogates, which no stream takes; ``\\udc80`` is also right JSON."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text
