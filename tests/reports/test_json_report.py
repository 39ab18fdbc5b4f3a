"""The JSON that others build on."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator

from xlalint.findings.model import Report
from xlalint.reports import ReportContext, render

SCHEMA = Path(__file__).parents[2] / "docs" / "findings.schema.json"


@pytest.fixture(scope="module")
def schema() -> Draft202012Validator:
    document = json.loads(SCHEMA.read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(document)
    return Draft202012Validator(document)


@pytest.fixture
def document(report: Report, context: ReportContext) -> Any:
    return json.loads(render(report, "json", context=context))


def test_a_finding_in_full(document: Any) -> None:
    assert document["findings"][2] == {
        "path": "src/train.py",
        "line": 12,
        "column": 18,
        "end_line": 12,
        "end_column": 29,
        "code": "XLA101",
        "name": "scalar-read-in-step",
        "family": "host-transfer",
        "severity": "warning",
        "certainty": "likely",
        "heat": "step",
        "modes": ["lazy", "dynamo"],
        "message": "`loss.item()` makes the host wait for the device in every step of the loop over `loader`",
        "help": "keep it on the device, and read it every few steps after the boundary",
        "why": [
            {
                "path": "src/train.py",
                "line": 9,
                "column": 16,
                "text": "`loss` is what `criterion(...)` returns: a device tensor",
            },
            {"path": "src/train.py", "line": 7, "column": 5, "text": "the loop over `loader` is a step loop"},
        ],
        "fix": {
            "title": "add up on the device",
            "safety": "unsafe",
            "edits": [{"line": 12, "column": 23, "end_line": 12, "end_column": 27, "content": "detach"}],
        },
        "fingerprint": document["findings"][2]["fingerprint"],
        "root": {
            "id": document["findings"][2]["root"]["id"],
            "kind": "place",
            "path": "src/train.py",
            "line": 12,
            "column": 18,
            "text": "XLA101 scalar-read-in-step",
        },
        "evidence": None,
    }


def test_what_stands_around_the_findings(document: Any) -> None:
    assert list(document) == ["schema_version", "tool", "findings", "skipped", "summary"]
    assert document["schema_version"] == 2
    assert document["tool"] == {"name": "xlalint", "version": "0.1.0"}
    part = {"line": 7, "function": "Net.forward"}
    assert document["skipped"] == [
        {"path": "src/deep.py", "reason": "nested too deeply", "internal": True, **part},
        {"path": "src/old.py", "reason": "syntax error on line 3: invalid syntax", "internal": False},
    ]
    assert document["summary"] == {
        "files": 12,
        "findings": 3,
        "roots": 3,
        "by_code": {"XLA101": 1, "XLA302": 1, "XLA309": 1},
        "most_costly": [],
        "seconds": 0.25,
    }


def test_suppressed_findings_come_only_when_asked_for(document: Any, report: Report, context: ReportContext) -> None:
    everything = msgspec.structs.replace(context, ignore_suppressions=True)
    all_of_it = json.loads(render(report, "json", context=everything))
    assert [finding["code"] for finding in document["findings"]] == ["XLA309", "XLA302", "XLA101"]
    assert [finding["code"] for finding in all_of_it["findings"]] == ["XLA309", "XLA302", "XLA101", "XLA106"]
    assert all_of_it["findings"][3].keys() == document["findings"][2].keys()


def test_it_is_as_the_schema_says(
    document: Any, clean: Report, context: ReportContext, schema: Draft202012Validator
) -> None:
    assert schema.is_valid(document)
    assert schema.is_valid(json.loads(render(clean, "json", context=context)))


@pytest.mark.parametrize(
    ("key", "value"),
    [("line", 0), ("severity", "fatal"), ("heat", "hot"), ("fingerprint", "zz"), ("modes", ["tpu"]), ("extra", 1)],
)
def test_the_schema_refuses_what_is_wrong(document: Any, schema: Draft202012Validator, key: str, value: object) -> None:
    wrong = copy.deepcopy(document)
    wrong["findings"][2][key] = value
    assert not schema.is_valid(wrong)


def test_the_schema_wants_every_key(document: Any, schema: Draft202012Validator) -> None:
    for key in document["findings"][2]:
        wrong = copy.deepcopy(document)
        del wrong["findings"][2][key]
        assert not schema.is_valid(wrong), key


def test_the_schema_knows_evidence(document: Any, schema: Draft202012Validator) -> None:
    counters = {"compiles": 2, "executions": 16, "reads": 8, "uploads": 1, "fallbacks": 0, "graph_breaks": 0}
    lazy = {
        "verdict": "confirmed",
        "reason": "one read a step less",
        "before": counters,
        "after": {**counters, "reads": 0},
        "per_step": {**counters, "reads": 1.0},
        "growth": "per-step",
        "lines": [{"path": "src/train.py", "line": 12, "compiles": 1, "executions": 8, "reads": 8, "uploads": 0}],
    }
    document["findings"][2]["evidence"] = {
        "verdict": "confirmed",
        "reason": "one read a step less",
        "basis": "slice",
        "assumptions": ["`loader` gives batches of 4 rows"],
        "device": {"kind": "CPU", "torch": "2.9.1", "torch_xla": "2.9.0"},
        "modes": {"lazy": lazy},
    }
    assert schema.is_valid(document)
    document["findings"][2]["evidence"]["verdict"] = "maybe"
    assert not schema.is_valid(document)
