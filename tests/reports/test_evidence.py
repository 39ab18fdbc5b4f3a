"""What a device said of a finding stands in every report."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from jsonschema import Draft4Validator

from xlalint.findings.model import Basis, Device, Evidence, Mode, ModeEvidence, Report, Verdict
from xlalint.reports import ReportContext, render

SARIF = Path(__file__).parent / "schema" / "sarif-2.1.0-rtm.5.json"
COUNTERS = ("compiles", "executions", "reads", "uploads", "fallbacks", "graph_breaks")
CONFIRMED = ModeEvidence(
    verdict=Verdict.CONFIRMED,
    reason="1 read in each step",
    before=dict.fromkeys(COUNTERS, 12.0),
    after=dict.fromkeys(COUNTERS, 0.0),
    per_step=dict.fromkeys(COUNTERS, 1.0),
    growth="per-step",
)
NOT_RUN = ModeEvidence(verdict=Verdict.NOT_RUN, reason="the stand-ins do not fit")


def with_evidence(report: Report, basis: Basis | None, **modes: ModeEvidence) -> Report:
    """``report`` with its scalar read proved, or not, in these modes."""
    found = next(iter(modes.values()))
    evidence = Evidence(
        verdict=found.verdict,
        reason=found.reason,
        basis=basis,
        assumptions=("`loss` is `stand_in.tensor('float', 2)`",),
        device=Device("CPU", "2.9.1", "2.9.0"),
        modes={Mode(name): one for name, one in modes.items()},
    )
    one = next(each for each in report.diagnostics if each.code == "XLA101")
    return msgspec.structs.replace(report, diagnostics=(msgspec.structs.replace(one, evidence=evidence),))


@pytest.mark.parametrize("format", ["text", "concise", "sarif", "github", "json"])
def test_the_verdict_and_its_reason_are_told(format: str, report: Report, context: ReportContext) -> None:
    proved = with_evidence(report, Basis.SLICE, lazy=CONFIRMED)
    assert "1 read in each step" in render(proved, format, context=context)


def test_the_table_shows_the_difference_a_step(report: Report, context: ReportContext) -> None:
    text = render(with_evidence(report, Basis.SLICE, lazy=CONFIRMED), "text", context=context)
    rows = {line.split()[0]: line.split()[1:] for line in text.splitlines() if line.strip().startswith(COUNTERS[:3])}
    assert rows == {name: ["12", "0", "-1"] for name in COUNTERS[:3]}
    assert "`loss` is `tensor('float', 2)`" in text


def test_operations_that_wait_are_shown_where_they_are_the_difference(report: Report, context: ReportContext) -> None:
    def rows(before: float, after: float) -> list[list[str]]:
        waiting = msgspec.structs.replace(
            CONFIRMED,
            before={**CONFIRMED.before, "pending_ops": before},
            after={**CONFIRMED.after, "pending_ops": after},
            per_step={**CONFIRMED.per_step, "pending_ops": 40.0},
        )
        text = render(with_evidence(report, Basis.SLICE, lazy=waiting), "text", context=context)
        return [line.split() for line in text.splitlines() if "pending ops" in line]

    assert rows(490, 10) == [["pending", "ops", "490", "10", "-40"]]
    assert rows(10, 10) == []


def test_what_was_not_run_rests_on_nothing(report: Report, context: ReportContext) -> None:
    text = render(with_evidence(report, None, lazy=NOT_RUN), "text", context=context)
    assert "not run: the stand-ins do not fit" in text
    assert "basis" not in text
    assert "tensor('float', 2)" not in text


def test_each_mode_has_its_own_line(report: Report, context: ReportContext) -> None:
    text = render(with_evidence(report, Basis.SLICE, lazy=CONFIRMED, dynamo=NOT_RUN), "text", context=context)
    assert "lazy: confirmed: 1 read in each step" in text
    assert "dynamo: not run: the stand-ins do not fit" in text


def test_sarif_has_the_figures_and_is_as_the_official_schema_says(report: Report, context: ReportContext) -> None:
    log = json.loads(render(with_evidence(report, Basis.SLICE, lazy=CONFIRMED), "sarif", context=context))
    assert Draft4Validator(json.loads(SARIF.read_text(encoding="utf-8"))).is_valid(log)
    (result,) = log["runs"][0]["results"]
    assert result["properties"]["evidence"]["modes"]["lazy"]["per_step"]["reads"] == 1
    assert "confirmed: 1 read in each step" in result["message"]["text"]
