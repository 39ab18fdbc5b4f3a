"""What one decision causes is shown as one, in each format in its way."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from diagnosed import diagnostic
from jsonschema import Draft4Validator

from xlalint.facts.events import RootKind
from xlalint.findings.model import Cause, Position, Report, Severity
from xlalint.reports import ReportContext, render

MASK = Cause(id="0123456789abcdef", kind=RootKind.VALUE, path="a.py", line=40, column=5, text="`mask`")
CONTEXT = ReportContext(version="0", sources=lambda path: None)
SARIF = Path(__file__).parent / "schema" / "sarif-2.1.0-rtm.5.json"
Numbered = Callable[..., Report]


def selected(line: int, **changes: Any) -> Any:
    plain = {"path": "a.py", "at": Position(line, 5, line, 9), "code": "XLA302", "message": "reads", "root": MASK}
    return diagnostic(**{**plain, **changes})


def report_of(*found: Any) -> Report:
    return Report(diagnostics=found, skipped=(), files=2, seconds=0.0)


THREE = report_of(selected(41), selected(43), selected(45, code="XLA303"))


def test_the_text_shows_the_first_place_and_where_the_others_are() -> None:
    text = render(THREE, "text", context=CONTEXT)
    assert text.count("-->") == 1
    assert "--> a.py:41:5" in text
    assert "= note: and 2 more places by `mask`, line 40: line 43; XLA303 line 45\n" in text
    assert "Found 3 warnings" in text


def test_places_in_other_files_are_named_with_them() -> None:
    text = render(report_of(selected(41), selected(7, path="b.py")), "text", context=CONTEXT)
    assert "and 1 more place by `mask`, line 40: b.py line 7\n" in text
    other = render(report_of(selected(7, path="b.py"), selected(9, path="b.py")), "text", context=CONTEXT)
    assert "and 1 more place by `mask`, a.py:40: line 9\n" in other


def test_of_many_places_some_are_listed() -> None:
    text = render(report_of(*(selected(41 + n) for n in range(40))), "text", context=CONTEXT)
    assert "and 39 more places by `mask`, line 40: lines 42, 43, 44," in text
    assert "53, …" in text
    assert "54" not in text


def test_the_place_of_the_highest_level_is_shown() -> None:
    text = render(report_of(selected(41), selected(43, severity=Severity.ERROR)), "text", context=CONTEXT)
    assert "--> a.py:43:5" in text
    assert "and 1 more place by `mask`, line 40: line 41\n" in text


def test_a_suppressed_place_is_none_of_them() -> None:
    text = render(report_of(selected(41, suppressed="# noqa"), selected(43)), "text", context=CONTEXT)
    assert "--> a.py:43:5" in text
    assert "more place" not in text


def test_an_editor_gets_a_line_for_each_place() -> None:
    lines = render(THREE, "concise", context=CONTEXT).splitlines()
    assert lines == [
        "a.py:41:5: XLA302 [warning] reads (and 2 more places by `mask`, line 40)",
        "a.py:43:5: XLA302 [warning] reads (by `mask`, as line 41)",
        "a.py:45:5: XLA303 [warning] reads (by `mask`, as line 41)",
    ]


def test_github_gets_an_annotation_for_each_root() -> None:
    (line,) = render(THREE, "github", context=CONTEXT).splitlines()
    assert "line=41" in line
    assert "%0Aand 2 more places by `mask`, line 40: line 43; XLA303 line 45" in line


def test_json_has_each_place_with_its_root() -> None:
    alone = selected(50, root=None)
    found = json.loads(render(report_of(*THREE.diagnostics, alone), "json", context=CONTEXT))["findings"]
    assert [one["line"] for one in found] == [41, 43, 45, 50]
    assert len({one["root"]["id"] for one in found[:3]}) == 1
    assert found[0]["root"] == {**msgspec.to_builtins(MASK), "kind": "value"}
    own = {"kind": "place", "path": "a.py", "line": 50, "column": 5, "text": "XLA302 scalar-read-in-step"}
    assert {key: found[3]["root"][key] for key in own} == own
    assert found[3]["root"]["id"] != MASK.id


@pytest.mark.parametrize(("places", "results"), [(10, 10), (11, 1)])
def test_sarif_has_one_result_for_more_than_ten_places(places: int, results: int) -> None:
    log = json.loads(render(report_of(*(selected(41 + n) for n in range(places))), "sarif", context=CONTEXT))
    assert Draft4Validator(json.loads(SARIF.read_text(encoding="utf-8"))).is_valid(log)
    found = log["runs"][0]["results"]
    assert len(found) == results
    related = found[0].get("relatedLocations", [])
    assert len(related) == places - results
    assert [one["id"] for one in related] == list(range(1, places - results + 1))
    if related:
        assert "And 10 more places by `mask`, line 40: [line 42](1), [line 43](2)" in found[0]["message"]["text"]
