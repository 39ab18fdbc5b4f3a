"""JUnit XML as CI servers read it (github.com/testmoapp/junitxml): a suite for each file, a failed case for each
finding, an error for what was not linted. A clean run has one case that passes, for many readers refuse an empty file.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import groupby

from xlalint.findings.model import Diagnostic, Report, Skipped
from xlalint.reports.context import ReportContext, shown
from xlalint.reports.paths import relative_path
from xlalint.reports.terminal import shown_text


def render(report: Report, context: ReportContext) -> str:
    found = shown(report, context)
    suites = [
        _suite(relative_path(path, context), [_failed(one, context) for one in each])
        for path, each in groupby(found, key=lambda one: one.path)
    ]
    suites += [_suite(relative_path(one.path, context), [_error(one)]) for one in report.skipped]
    if not suites:
        suites = [_suite("xlalint", [ET.Element("testcase", name="nothing found", classname="xlalint", time="0")])]
    counts = {"tests": len(found) + len(report.skipped) or 1, "failures": len(found), "errors": len(report.skipped)}
    root = ET.Element("testsuites", {"name": "xlalint", **{key: str(count) for key, count in counts.items()}})
    root.extend(suites)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(name: str, cases: list[ET.Element]) -> ET.Element:
    failures = sum(case.find("failure") is not None for case in cases)
    errors = sum(case.find("error") is not None for case in cases)
    suite = ET.Element(
        "testsuite", name=shown_text(name), tests=str(len(cases)), failures=str(failures), errors=str(errors)
    )
    suite.extend(cases)
    return suite


def _failed(found: Diagnostic, context: ReportContext) -> ET.Element:
    path = relative_path(found.path, context)
    place = f"{path}:{found.at.line}:{found.at.column}"
    case = _case(f"{found.code} {found.name} ({place})", path, found.at.line)
    failure = ET.SubElement(case, "failure", type=found.severity.name.lower(), message=shown_text(found.message))
    told = [f"{place}: {found.code} {found.message}", f"help: {found.help}" if found.help else ""]
    failure.text = "\n".join(shown_text(line) for line in told if line)
    return case


def _error(skipped: Skipped) -> ET.Element:
    case = _case(f"not linted ({skipped.place})", skipped.path, skipped.line or 1)
    error = ET.SubElement(case, "error", type="not-linted", message=shown_text(skipped.reason))
    error.text = shown_text(f"{skipped.place}: {skipped.reason}")
    return case


def _case(name: str, path: str, line: int) -> ET.Element:
    # `file` is what GitLab links; others pass over it.
    file = shown_text(path)
    return ET.Element("testcase", name=shown_text(name), classname=file, file=file, line=str(line), time="0")
