"""GitLab's Code Quality report, a JSON array: docs.gitlab.com/ci/testing/code_quality, "Code Quality report format"."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Final

from xlalint.findings.model import Diagnostic, Report, Severity, Skipped
from xlalint.reports.context import ReportContext, shown
from xlalint.reports.paths import relative_path
from xlalint.reports.terminal import shown_text

# Of info, minor, major, critical and blocker.
_SEVERITIES: Final = {Severity.ERROR: "critical", Severity.WARNING: "major", Severity.NOTE: "info"}


def render(report: Report, context: ReportContext) -> str:
    met: Counter[str] = Counter()
    issues = [
        *(_issue(one, context, met) for one in shown(report, context)),
        *_skipped_issues(report.skipped, context, met),
    ]
    return json.dumps(issues, indent=2, ensure_ascii=False) + "\n"


def _issue(found: Diagnostic, context: ReportContext, met: Counter[str]) -> dict[str, object]:
    path = relative_path(found.path, context)
    help = f" ({found.help})" if found.help else ""
    return {
        "description": shown_text(f"{found.code} {found.message}{help}"),
        "check_name": found.code,
        "fingerprint": _unique(f"{path}\0{found.code}\0{found.fingerprint}", met),
        "severity": _SEVERITIES[found.severity],
        "location": {"path": path, "lines": {"begin": found.at.line, "end": found.at.end_line}},
    }


def _skipped_issues(
    skipped: tuple[Skipped, ...], context: ReportContext, met: Counter[str]
) -> Iterator[dict[str, object]]:
    for one in skipped:
        path = relative_path(one.path, context)
        yield {
            "description": shown_text(f"not linted: {one.reason}"),
            "check_name": "not-linted",
            "fingerprint": _unique(f"{path}\0not-linted\0{one.function}", met),
            "severity": "major",
            "location": {"path": path, "lines": {"begin": one.line or 1}},
        }


def _unique(told: str, met: Counter[str]) -> str:
    """A name that no other issue of the report has, the same from run to run."""
    import hashlib  # it loads OpenSSL, for nothing where there is no finding

    met[told] += 1
    return hashlib.sha256(f"{told}\0{met[told]}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
