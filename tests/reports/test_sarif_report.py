"""SARIF for GitHub code scanning and other readers."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft4Validator

from xlalint.findings.model import Position, Report, Severity
from xlalint.reports import ReportContext, RuleCard, limits_met, render

Make = Callable[..., tuple[Report, ReportContext]]

SCHEMA = Path(__file__).parent / "schema" / "sarif-2.1.0-rtm.5.json"


@pytest.fixture(scope="module")
def schema() -> Draft4Validator:
    return Draft4Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))


@pytest.fixture
def log(report: Report, context: ReportContext) -> Any:
    return json.loads(render(report, "sarif", context=context))


@pytest.fixture
def results(log: Any) -> dict[str, Any]:
    return {result["ruleId"]: result for result in log["runs"][0]["results"]}


def place(location: Any) -> tuple[str, dict[str, int]]:
    physical = location["physicalLocation"]
    return physical["artifactLocation"]["uri"], physical["region"]


def test_it_is_as_the_official_schema_says(
    log: Any, report: Report, clean: Report, context: ReportContext, schema: Draft4Validator
) -> None:
    assert schema.is_valid(log)
    assert schema.is_valid(json.loads(render(clean, "sarif", context=context)))
    everything = msgspec.structs.replace(context, ignore_suppressions=True, sources=lambda path: None)
    assert schema.is_valid(json.loads(render(report, "sarif", context=everything)))


def test_the_schema_in_use_is_not_empty(log: Any, schema: Draft4Validator) -> None:
    log["runs"][0]["results"][0]["level"] = "fatal"
    assert not schema.is_valid(log)


def test_the_head_of_the_log(log: Any) -> None:
    assert log["version"] == "2.1.0"
    assert log["$schema"].endswith("sarif-2.1.0.json")
    (run,) = log["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    assert run["automationDetails"] == {"id": "xlalint/"}
    assert (run["tool"]["driver"]["name"], run["tool"]["driver"]["version"]) == ("xlalint", "0.1.0")


def test_a_clean_run_has_an_empty_list_of_results(clean: Report, context: ReportContext) -> None:
    (run,) = json.loads(render(clean, "sarif", context=context))["runs"]
    assert run["results"] == []
    assert run["invocations"] == [{"executionSuccessful": True, "toolExecutionNotifications": []}]


def test_levels_are_written_even_where_they_are_the_default(results: dict[str, Any], log: Any) -> None:
    levels = {code: result["level"] for code, result in results.items()}
    assert levels == {"XLA101": "warning", "XLA106": "warning", "XLA302": "error", "XLA309": "note"}
    for rule in log["runs"][0]["tool"]["driver"]["rules"]:
        assert "level" in rule["defaultConfiguration"], rule["id"]


def test_no_placeholder_of_the_library_is_written(log: Any) -> None:
    def numbers(value: Any) -> list[Any]:
        if isinstance(value, dict):
            return [number for part in value.values() for number in numbers(part)]
        if isinstance(value, list):
            return [number for part in value for number in numbers(part)]
        return [value] if isinstance(value, int | float) and not isinstance(value, bool) else []

    assert min(numbers(log)) >= 0


def test_where_a_finding_stands(results: dict[str, Any]) -> None:
    assert place(results["XLA101"]["locations"][0]) == (
        "src/train.py",
        {"startLine": 12, "startColumn": 18, "endLine": 12, "endColumn": 29},
    )


def test_a_finding_over_several_lines_keeps_to_its_first(results: dict[str, Any]) -> None:
    assert place(results["XLA309"]["locations"][0]) == (
        "src/mod%C3%A8le%201.py",
        {"startLine": 2, "startColumn": 9, "endLine": 2, "endColumn": 19},
    )


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("/project/src/a.py", "src/a.py"),
        ("/elsewhere/a b.py", "file:///elsewhere/a%20b.py"),
        ("../a.py", "../a.py"),
        ("a:b#c?.py", "a%3Ab%23c%3F.py"),
        ("caf\udce9.py", "caf%E9.py"),
        ("<stdin>", "%3Cstdin%3E"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="absolute paths of POSIX")
def test_uris_are_relative_and_escaped(one_finding: Make, path: str, uri: str) -> None:
    report, context = one_finding("x", Position(1, 1, 1, 2), path=path)
    context = msgspec.structs.replace(context, working_directory="/project")
    (run,) = json.loads(render(report, "sarif", context=context))["runs"]
    assert place(run["results"][0]["locations"][0])[0] == uri


def test_each_result_points_at_its_rule(log: Any) -> None:
    rules = log["runs"][0]["tool"]["driver"]["rules"]
    for result in log["runs"][0]["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]


def test_a_rule_brings_its_page(log: Any) -> None:
    rule = log["runs"][0]["tool"]["driver"]["rules"][0]
    assert rule["name"] == "scalar-read-in-step"
    assert rule["shortDescription"]["text"] == "A device scalar is read on the host in every step."
    assert "```py bad\ntotal += loss.item()\n```" in rule["help"]["markdown"]
    assert "\nBad\n\ntotal += loss.item()" in rule["help"]["text"]
    assert rule["defaultConfiguration"] == {"level": "warning"}
    assert rule["properties"] == {
        "precision": "high",
        "problem.severity": "warning",
        "tags": ["performance", "pytorch", "xla", "host-transfer"],
    }


def test_descriptions_keep_to_the_limit_of_github(report: Report, context: ReportContext) -> None:
    card = msgspec.structs.replace(context.rules["XLA101"], description="long " * 1000, severity=Severity.NOTE)
    wordy = msgspec.structs.replace(context, rules={"XLA101": card})
    rule = json.loads(render(report, "sarif", context=wordy))["runs"][0]["tool"]["driver"]["rules"][0]
    assert len(rule["shortDescription"]["text"]) == len(rule["fullDescription"]["text"]) == 1024
    assert rule["properties"]["problem.severity"] == "recommendation"


def test_a_rule_without_a_card_is_described_by_its_finding(log: Any) -> None:
    rule = log["runs"][0]["tool"]["driver"]["rules"][2]
    assert (rule["id"], rule["name"], rule["shortDescription"]["text"]) == (
        "XLA302",
        "boolean-index",
        "Boolean index.",
    )


def test_the_chain_is_related_linked_and_a_flow(results: dict[str, Any]) -> None:
    result = results["XLA101"]
    assert [(location["id"], place(location)[1]["startLine"]) for location in result["relatedLocations"]] == [
        (1, 9),
        (2, 7),
    ]
    assert "[the loop over `loader` is a step loop](2)" in result["message"]["text"]
    (flow,) = result["codeFlows"]
    steps = [place(step["location"])[1]["startLine"] for step in flow["threadFlows"][0]["locations"]]
    assert steps == [9, 7, 12]


def test_brackets_in_a_link_are_escaped(results: dict[str, Any]) -> None:
    assert r"[`mask` is compared: \[a bool tensor\]](1)" in results["XLA302"]["message"]["text"]


def test_the_message_starts_with_what_is_wrong(results: dict[str, Any]) -> None:
    assert results["XLA309"]["message"]["text"] == "`kept` grows"
    assert results["XLA101"]["message"]["text"].split("\n\n")[1].startswith("Help: keep it on the device")


def test_a_fix_replaces_its_range(results: dict[str, Any]) -> None:
    (fix,) = results["XLA101"]["fixes"]
    (change,) = fix["artifactChanges"]
    assert fix["description"]["text"] == "add up on the device (unsafe: read it before you keep it)"
    assert change == {
        "artifactLocation": {"uri": "src/train.py"},
        "replacements": [
            {
                "deletedRegion": {"startLine": 12, "startColumn": 23, "endLine": 12, "endColumn": 27},
                "insertedContent": {"text": "detach"},
            }
        ],
    }


def test_suppressed_findings_are_there_and_marked(results: dict[str, Any]) -> None:
    assert results["XLA106"]["suppressions"] == [
        {"kind": "inSource", "justification": "# xlalint: ignore[XLA106] looked at by hand"}
    ]
    assert results["XLA101"]["suppressions"] == []


def test_ignored_suppressions_mark_nothing(report: Report, context: ReportContext) -> None:
    everything = msgspec.structs.replace(context, ignore_suppressions=True)
    (run,) = json.loads(render(report, "sarif", context=everything))["runs"]
    assert [result["suppressions"] for result in run["results"]] == [[], [], [], []]


def test_skipped_and_missing_files_are_told(report: Report, context: ReportContext) -> None:
    gone = msgspec.structs.replace(report, named_missing=("nowhere",))
    (invocation,) = json.loads(render(gone, "sarif", context=context))["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is False
    notes = invocation["toolExecutionNotifications"]
    assert [(note["level"], note["message"]["text"]) for note in notes] == [
        ("error", "src/deep.py:7: in Net.forward was not linted: nested too deeply"),
        ("warning", "src/old.py was not linted: syntax error on line 3: invalid syntax"),
        ("error", "nowhere does not exist"),
    ]
    part, whole = (note["locations"][0]["physicalLocation"] for note in notes[:2])
    assert part == {"artifactLocation": {"uri": "src/deep.py"}, "region": {"startLine": 7}}
    assert whole == {"artifactLocation": {"uri": "src/old.py"}}


def test_a_run_in_which_the_linter_failed_was_no_success(report: Report, context: ReportContext) -> None:
    for skipped, success in ((report.skipped, False), (report.skipped[1:], True)):
        made = msgspec.structs.replace(report, skipped=skipped)
        (invocation,) = json.loads(render(made, "sarif", context=context))["runs"][0]["invocations"]
        assert invocation["executionSuccessful"] is success


def test_fingerprints_are_githubs_and_our_own(report: Report, results: dict[str, Any]) -> None:
    prints = results["XLA101"]["partialFingerprints"]
    assert prints["xlalint/v1"] == report.diagnostics[2].fingerprint
    assert prints["primaryLocationLineHash"].endswith(":1")
    assert prints["primaryLocationLineHash"] != results["XLA106"]["partialFingerprints"]["primaryLocationLineHash"]


def test_without_the_text_there_is_no_line_hash(report: Report, context: ReportContext) -> None:
    blind = msgspec.structs.replace(context, sources=lambda path: None)
    (run,) = json.loads(render(report, "sarif", context=blind))["runs"]
    assert all(list(result["partialFingerprints"]) == ["xlalint/v1"] for result in run["results"])
    assert "endColumn" not in run["results"][0]["locations"][0]["physicalLocation"]["region"]


def test_a_card_may_have_any_family(one_finding: Make, context: ReportContext) -> None:
    report, plain = one_finding("x", Position(1, 1, 1, 2))
    card: RuleCard = msgspec.structs.replace(context.rules["XLA101"], family="step")
    carded = msgspec.structs.replace(plain, rules={"XLA101": card})
    (run,) = json.loads(render(report, "sarif", context=carded))["runs"]
    assert "step" in run["tool"]["driver"]["rules"][0]["properties"]["tags"]


def test_sarif_om_is_loaded_for_sarif_alone() -> None:
    program = """
import sys
from xlalint.findings.model import Report
from xlalint.reports import ReportContext, render

report = Report(diagnostics=(), skipped=(), files=1, seconds=0.0)
context = ReportContext(version="0", sources=lambda path: None)
for format in ("text", "concise", "json", "github"):
    render(report, format, context=context)
print("sarif_om" in sys.modules)
render(report, "sarif", context=context)
print("sarif_om" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_all_rules_are_listed_in_a_clean_run(clean: Report, context: ReportContext) -> None:
    (run,) = json.loads(render(clean, "sarif", context=context))["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["XLA101"]


def test_what_looks_like_a_link_is_none(one_finding: Make) -> None:
    report, context = one_finding("x", Position(1, 1, 1, 2), message="`fns[0](x)` reads `x[1]`")
    (run,) = json.loads(render(report, "sarif", context=context))["runs"]
    assert run["results"][0]["message"]["text"] == r"`fns\[0\](x)` reads `x[1]`"


def test_more_than_github_takes_is_left_out_and_told(one_finding: Make) -> None:
    report, context = one_finding("x", Position(1, 1, 1, 2))
    first = report.diagnostics[0]
    found = [msgspec.structs.replace(first, at=Position(line, 1, line, 2)) for line in range(1, 25_003)]
    found[0] = msgspec.structs.replace(found[0], severity=Severity.NOTE)
    found[7] = msgspec.structs.replace(found[7], severity=Severity.NOTE)
    many = msgspec.structs.replace(report, diagnostics=tuple(found))
    (run,) = json.loads(render(many, "sarif", context=context))["runs"]
    lines = [place(result["locations"][0])[1]["startLine"] for result in run["results"]]
    assert lines == [line for line in range(1, 25_003) if line not in (1, 8)]
    told = "SARIF for GitHub holds 25,000 results: the 2 least severe and least hot are left out"
    assert run["invocations"][0]["toolExecutionNotifications"][-1]["message"]["text"] == told
    assert limits_met(many, "sarif", context=context) == told
    assert not limits_met(report, "sarif", context=context)
