"""The formats that CI servers and review bots read.

The facts of the schemas here are those of docs.gitlab.com/ci/testing/code_quality ("Code Quality report format"), of
github.com/reviewdog/reviewdog (proto/rdf/reviewdog.proto) and of github.com/testmoapp/junitxml.
"""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from jsonschema import Draft7Validator

from xlalint.findings.model import Position, Report, Severity
from xlalint.reports import ReportContext, render

Make = Callable[..., tuple[Report, ReportContext]]

LINE = {"type": "integer", "minimum": 1}
GITLAB = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "minLength": 1},
            "fingerprint": {"type": "string", "minLength": 1},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "not": {"pattern": "^\\./"}},
                    "lines": {"type": "object", "required": ["begin"], "properties": {"begin": LINE, "end": LINE}},
                },
            },
        },
    },
}
POINT = {"type": "object", "additionalProperties": False, "properties": {"line": LINE, "column": LINE}}
RANGE = {"type": "object", "additionalProperties": False, "properties": {"start": POINT, "end": POINT}}
PLACE = {
    "type": "object",
    "additionalProperties": False,
    "properties": {"path": {"type": "string"}, "range": RANGE},
}
RDJSON = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "source": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"name": {"type": "string"}, "url": {"type": "string"}},
        },
        "severity": {"enum": ["ERROR", "WARNING", "INFO"]},
        "diagnostics": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["message", "location"],
                "properties": {
                    "message": {"type": "string"},
                    "location": PLACE,
                    "severity": {"enum": ["ERROR", "WARNING", "INFO"]},
                    "code": {
                        "type": "object",
                        "additionalProperties": False,
                        "properties": {"value": {"type": "string"}, "url": {"type": "string"}},
                    },
                    "suggestions": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "additionalProperties": False,
                            "properties": {"range": RANGE, "text": {"type": "string"}},
                        },
                    },
                    "related_locations": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "additionalProperties": False,
                            "properties": {"message": {"type": "string"}, "location": PLACE},
                        },
                    },
                },
            },
        },
    },
}


@pytest.mark.parametrize(("format", "schema"), [("gitlab", GITLAB), ("rdjson", RDJSON)])
def test_json_is_as_its_readers_say(
    format: str, schema: Any, report: Report, clean: Report, context: ReportContext
) -> None:
    for one in (report, clean):
        document = json.loads(render(one, format, context=context))
        assert [error.message for error in Draft7Validator(schema).iter_errors(document)] == []


def test_gitlab_issues(report: Report, clean: Report, context: ReportContext) -> None:
    issues = json.loads(render(report, "gitlab", context=context))
    told = [(one["check_name"], one["severity"], one["location"]["lines"]["begin"]) for one in issues]
    assert told == [
        ("XLA309", "info", 2),
        ("XLA302", "critical", 3),
        ("XLA101", "major", 12),
        ("not-linted", "major", 7),
        ("not-linted", "major", 1),
    ]
    assert json.loads(render(clean, "gitlab", context=context)) == []


def test_no_two_gitlab_issues_have_one_fingerprint(report: Report, context: ReportContext) -> None:
    twice = msgspec.structs.replace(report, diagnostics=(*report.diagnostics, *report.diagnostics))
    issues = json.loads(render(twice, "gitlab", context=context))
    names = [one["fingerprint"] for one in issues]
    assert len(set(names)) == len(names)
    again = json.loads(render(report, "gitlab", context=context))
    assert {one["fingerprint"] for one in again} < set(names)


def test_columns_of_rdjson_count_bytes(one_finding: Make) -> None:
    report, context = one_finding("é = '名'; x.item()", Position(1, 10, 1, 18))
    (found,) = json.loads(render(report, "rdjson", context=context))["diagnostics"]
    assert found["location"]["range"] == {"start": {"line": 1, "column": 13}, "end": {"line": 1, "column": 21}}


def test_a_suggestion_that_is_unsafe_says_so(report: Report, context: ReportContext) -> None:
    found = json.loads(render(report, "rdjson", context=context))["diagnostics"][2]
    assert found["suggestions"][0]["text"] == "detach"
    assert "read it before you take it" in found["message"]
    assert [one["location"]["range"]["start"]["line"] for one in found["related_locations"]] == [9, 7]


def test_junit_has_a_suite_for_each_file(report: Report, context: ReportContext) -> None:
    root = ET.fromstring(render(report, "junit", context=context).encode())
    assert root.attrib == {"name": "xlalint", "tests": "5", "failures": "3", "errors": "2"}
    names = [suite.attrib["name"] for suite in root]
    assert names == ["src/modèle 1.py", "src/train.py", "src/deep.py", "src/old.py"]
    case = root[1][0]
    assert case.attrib["name"] == "XLA101 scalar-read-in-step (src/train.py:12:18)"
    assert (case.attrib["file"], case.attrib["line"]) == ("src/train.py", "12")
    assert case[0].tag == "failure"
    assert root[2][0][0].tag == "error"


def test_a_clean_junit_file_has_a_test_that_passes(clean: Report, context: ReportContext) -> None:
    root = ET.fromstring(render(clean, "junit", context=context).encode())
    assert root.attrib["tests"] == "1"
    assert not list(root[0][0])


def test_junit_is_xml_whatever_is_in_a_message(one_finding: Make) -> None:
    report, context = one_finding("x", Position(1, 1, 1, 2), path="a\x1b\udce9&<.py", message="\x00<&\u202e]]>")
    (case,) = ET.fromstring(render(report, "junit", context=context).encode()).iter("testcase")
    assert (case.attrib["file"].startswith("a"), case.attrib["file"].endswith("&<.py")) == (True, True)
    assert "<&" in case[0].attrib["message"]
    assert "\x00" not in case[0].attrib["message"]


def test_a_summary_in_markdown(report: Report, clean: Report, context: ReportContext) -> None:
    text = render(report, "markdown", context=context)
    assert text.startswith("## xlalint\n\nFound 1 error, 1 warning and 1 note in 2 files")
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert [row.split(" | ")[0] for row in rows[2:]] == ["| error", "| warning", "| note"]
    assert "### Not linted\n\n- src/deep.py:7: in Net.forward: nested too deeply" in text
    assert render(clean, "markdown", context=context) == "## xlalint\n\nAll clear: 12 files checked.\n"


def test_nothing_in_a_message_is_markup(one_finding: Make) -> None:
    message = "`a | b` <b> | *x* [y](z) @me `"
    report, context = one_finding("x", Position(1, 1, 1, 2), message=message, severity=Severity.NOTE)
    row = render(report, "markdown", context=context).splitlines()[-1]
    assert row == (
        "| note | XLA101 scalar-read-in-step | a.py:1 | `a \\| b` \\<b\\> \\| \\*x\\* \\[y\\](z) \\@me \\` |  |"
    )


def test_a_long_summary_is_cut(one_finding: Make) -> None:
    report, context = one_finding("x", Position(1, 1, 1, 2))
    found = tuple(
        msgspec.structs.replace(report.diagnostics[0], at=Position(line, 1, line, 2)) for line in range(1, 302)
    )
    text = render(msgspec.structs.replace(report, diagnostics=found), "markdown", context=context)
    assert text.endswith("\n101 more roots are not listed here.\n")


def test_ten_annotations_of_a_kind_and_the_rest_in_the_log(one_finding: Make) -> None:
    report, context = one_finding("x", Position(1, 1, 1, 2))
    first = report.diagnostics[0]
    notes = [
        msgspec.structs.replace(first, at=Position(line, 1, line, 2), severity=severity)
        for line, severity in enumerate([Severity.NOTE] * 12 + [Severity.WARNING] * 13 + [Severity.ERROR] * 2, 1)
    ]
    lines = render(msgspec.structs.replace(report, diagnostics=tuple(notes)), "github", context=context).splitlines()
    kinds = [line.partition(" ")[0] for line in lines if line.startswith("::")]
    assert (kinds.count("::notice"), kinds.count("::warning"), kinds.count("::error")) == (10, 10, 2)
    assert "::notice title=xlalint::GitHub shows 10 annotations of a kind: 6 of 27 stand in the log only" in lines
    assert sum(line.startswith("- ") for line in lines) == 6


def test_annotations_are_free_of_what_a_log_would_obey(one_finding: Make) -> None:
    report, context = one_finding("x", Position(1, 1, 1, 2), path="a\u202e.py", message="\x1b[31mred\u202e\n::error::x")
    text = render(report, "github", context=context)
    assert not {"\x1b", "\u202e"} & set(text)
    assert text.count("\n") == 1
