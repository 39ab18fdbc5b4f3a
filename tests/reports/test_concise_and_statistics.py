"""The short forms."""

from __future__ import annotations

import json

import msgspec
import pytest

from xlalint.findings.model import Report
from xlalint.reports import FORMATS, ReportContext, UnknownFormatError, render
from xlalint.reports.statistics import counts


def test_one_line_per_finding(report: Report, context: ReportContext) -> None:
    assert render(report, "concise", context=context).splitlines() == [
        "src/modèle 1.py:2:9: XLA309 [note] `kept` grows",
        "src/modèle 1.py:3:4: XLA302 [error] `x[mask]` has as many rows as `mask` has true values: "
        "100% of the steps compile anew",
        "src/train.py:12:18: XLA101 [warning] `loss.item()` makes the host wait for the device in every step "
        "of the loop over `loader`",
    ]


def test_nothing_found_prints_nothing(clean: Report, context: ReportContext) -> None:
    assert render(clean, "concise", context=context) == ""


@pytest.mark.parametrize("format", ["text", "concise"])
def test_statistics_stand_in_place_of_the_findings(format: str, report: Report, context: ReportContext) -> None:
    twice = msgspec.structs.replace(report, diagnostics=(*report.diagnostics, report.diagnostics[2]))
    counted = msgspec.structs.replace(context, statistics=True)
    assert render(twice, format, context=counted) == (
        "2  XLA101  scalar-read-in-step  in 1 file\n"
        "1  XLA302  boolean-index        in 1 file\n"
        "1  XLA309  growing-tensor       in 1 file\n"
        "Found 1 error, 2 warnings and 1 note in 2 files (12 files checked, 1 skipped, 1 part of files not linted).\n"
    )


def test_statistics_of_a_clean_run(clean: Report, context: ReportContext) -> None:
    counted = msgspec.structs.replace(context, statistics=True)
    assert render(clean, "text", context=counted) == "All clear: 12 files checked.\n"


def test_counts_are_plain_data(report: Report) -> None:
    assert [msgspec.to_builtins(row) for row in counts(report.diagnostics[:1])] == [
        {"code": "XLA309", "name": "growing-tensor", "findings": 1, "files": 1}
    ]


@pytest.mark.parametrize("format", ["sarif", "github"])
def test_what_programs_read_stays_as_it_is(format: str, report: Report, context: ReportContext) -> None:
    counted = msgspec.structs.replace(context, statistics=True, quiet=True, color=True)
    assert render(report, format, context=counted) == render(report, format, context=context)


def test_an_unknown_format_names_the_known_ones(clean: Report, context: ReportContext) -> None:
    with pytest.raises(UnknownFormatError, match="`xml`: one of text, concise, json, sarif, github"):
        render(clean, "xml", context=context)


@pytest.mark.parametrize("format", sorted(FORMATS))
def test_the_same_report_gives_the_same_text(format: str, report: Report, context: ReportContext) -> None:
    assert render(report, format, context=context) == render(report, format, context=context)


def test_lines_are_cut_to_a_width(report: Report, context: ReportContext) -> None:
    long = msgspec.structs.replace(report.diagnostics[0], message="word " * 100)
    (line,) = render(msgspec.structs.replace(report, diagnostics=(long,)), "concise", context=context).splitlines()
    assert len(line) <= 160
    assert line.endswith("word…")


def test_statistics_as_json(report: Report, context: ReportContext) -> None:
    counted = msgspec.structs.replace(context, statistics=True)
    told = json.loads(render(report, "json", context=counted))
    assert told["statistics"][0] == {"code": "XLA101", "name": "scalar-read-in-step", "findings": 1, "files": 1}
    assert told["summary"] == {"files": 12, "findings": 3, "skipped": 2}
