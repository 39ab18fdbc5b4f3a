"""Annotations in GitHub Actions."""

from __future__ import annotations

from collections.abc import Callable

from xlalint.findings.model import Position, Report, Severity
from xlalint.reports import ReportContext, render

Make = Callable[..., tuple[Report, ReportContext]]


def test_one_command_per_finding(report: Report, context: ReportContext) -> None:
    lines = render(report, "github", context=context).splitlines()
    assert [line.partition(" ")[0] for line in lines] == ["::notice", "::error", "::warning", "::warning", "::warning"]
    assert lines[2] == (
        "::warning file=src/train.py,line=12,col=18,endLine=12,endColumn=29,title=xlalint (XLA101 scalar-read-in-step)"
        "::src/train.py:12:18: XLA101 `loss.item()` makes the host wait for the device in every step of the loop "
        "over `loader`%0Ahelp: keep it on the device, and read it every few steps after the boundary"
    )


def test_what_was_not_linted_is_an_annotation(report: Report, context: ReportContext) -> None:
    assert render(report, "github", context=context).splitlines()[3:] == [
        "::warning file=src/deep.py,line=7,title=xlalint (not linted)"
        "::src/deep.py:7: in Net.forward: nested too deeply",
        "::warning file=src/old.py,title=xlalint (not linted)::src/old.py: syntax error on line 3: invalid syntax",
    ]


def test_a_percent_sign_is_escaped(report: Report, context: ReportContext) -> None:
    assert "values: 100%25 of the steps" in render(report, "github", context=context)


def test_a_finding_over_several_lines_has_no_columns(report: Report, context: ReportContext) -> None:
    first = render(report, "github", context=context).splitlines()[0]
    assert ",line=2,endLine=4,title=" in first


def test_a_file_name_cannot_end_its_property(one_finding: Make) -> None:
    report, context = one_finding("x", Position(1, 1, 1, 2), path="a,b:c\n.py", severity=Severity.NOTE)
    text = render(report, "github", context=context)
    assert text.startswith("::notice file=a%2Cb%3Ac%0A.py,line=1,")
    assert text.count("\n") == 1
