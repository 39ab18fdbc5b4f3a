"""What a person reads."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec
import pytest

from xlalint.findings.model import Position, Reason, Report, Skipped
from xlalint.reports import ReportContext, render

Make = Callable[..., tuple[Report, ReportContext]]


def test_the_whole_report(report: Report, context: ReportContext) -> None:
    assert render(report, "text", context=context) == (
        """\
note: XLA309 growing-tensor: `kept` grows
 --> src/modèle 1.py:2:9
  |
2 |     kept = torch.cat(
  |            ^^^^^^^^^^
  |
  = see: `xlalint rule XLA309`

error: XLA302 boolean-index (possible): `x[mask]` has as many rows as `mask` has true values: 100% of the steps compile anew
 --> src/modèle 1.py:3:4
  |
3 |         [x[mask], self.名前],
  |          ^^^^^^^
  |
  = note: src/modèle 1.py:1: `mask` is compared: [a bool tensor]
  = help: keep the shape: `torch.where(mask, x, 0)`
  = see: `xlalint rule XLA302`

warning: XLA101 scalar-read-in-step: `loss.item()` makes the host wait for the device in every step of the loop over `loader`
  --> src/train.py:12:18
   |
12 |         total += loss.item()
   |                  ^^^^^^^^^^^
   |
   = note: src/train.py:9: `loss` is what `criterion(...)` returns: a device tensor
   = note: src/train.py:7: the loop over `loader` is a step loop
   = help: keep it on the device, and read it every few steps after the boundary
   = suggestion: add up on the device (unsafe: it may change what the program does)
   = see: `xlalint rule XLA101`

Found 1 error, 1 warning and 1 note in 2 files (12 files checked, 1 skipped, 1 part of files not linted).
"""  # noqa: E501
    )


def test_a_clean_run_says_so(clean: Report, context: ReportContext) -> None:
    assert render(clean, "text", context=context) == "All clear: 12 files checked.\n"


def test_a_run_that_checked_nothing_is_not_called_clear(clean: Report, context: ReportContext) -> None:
    nothing = msgspec.structs.replace(clean, files=0, skipped=(Skipped("a.py", "not UTF-8"),))
    assert render(nothing, "text", context=context) == "No files checked (1 skipped).\n"


def test_quiet_leaves_the_summary_out(report: Report, clean: Report, context: ReportContext) -> None:
    quiet = msgspec.structs.replace(context, quiet=True)
    assert render(clean, "text", context=quiet) == ""
    text = render(report, "text", context=quiet)
    assert "XLA101" in text
    assert "Found" not in text


def test_suppressed_findings_come_only_when_asked_for(report: Report, context: ReportContext) -> None:
    everything = msgspec.structs.replace(context, ignore_suppressions=True)
    assert "XLA106" not in render(report, "text", context=context)
    text = render(report, "text", context=everything)
    assert "print(loss)  # xlalint: ignore[XLA106] looked at by hand\n   |         ^^^^^^^^^^^\n" in text
    assert "2 warnings" in text


def test_colour_changes_nothing_but_the_colour(report: Report, context: ReportContext) -> None:
    coloured = render(report, "text", context=msgspec.structs.replace(context, color=True))
    assert "\x1b[1;33mwarning\x1b[0m" in coloured
    assert "\x1b[1;31m^^^^^^^\x1b[0m" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == render(report, "text", context=context)


def frame(report: Report, context: ReportContext) -> tuple[str, str]:
    """The code and the carets under it, as they stand below each other."""
    lines = render(report, "text", context=context).split("\n")
    at = next(number for number, line in enumerate(lines) if "^" in line)
    return lines[at - 1].partition("| ")[2], lines[at].partition("| ")[2]


@pytest.mark.parametrize(
    ("line", "needle", "code", "carets"),
    [
        ("\tx = y.item()", "y.item()", "    x = y.item()", "        ^^^^^^^^"),
        ("a\tb.item()", "b.item()", "a   b.item()", "    ^^^^^^^^"),
        ("f('漢字', y.item())", "y.item()", "f('漢字', y.item())", "          ^^^^^^^^"),
        ("f(漢字.item())", "漢字.item()", "f(漢字.item())", "  ^^^^^^^^^^^"),
        ("e\u0301 = y.item()", "y.item()", "e\u0301 = y.item()", "    ^^^^^^^^"),
        ("f('\u202e', y)", "y", "f('\ufffd', y)", "       ^"),
        ("x = '\x1b[31m'", "'\x1b[31m'", "x = '\ufffd[31m'", "    ^^^^^^^"),
        ("\x0cx = y", "y", "\ufffdx = y", "     ^"),
    ],
)
def test_carets_stand_under_the_finding(one_finding: Make, line: str, needle: str, code: str, carets: str) -> None:
    column = line.index(needle) + 1
    assert frame(*one_finding(line, Position(1, column, 1, column + len(needle)))) == (code, carets)


def test_an_empty_range_has_one_caret(one_finding: Make) -> None:
    assert frame(*one_finding("x = 1", Position(1, 5, 1, 5))) == ("x = 1", "    ^")


def test_a_very_long_line_is_cut_around_the_finding(one_finding: Make) -> None:
    line = "a + " * 5000 + "b.item()" + " + a" * 5000
    code, carets = frame(*one_finding(line, Position(1, 20001, 1, 20009)))
    assert len(code) < 250
    assert code.startswith("…")
    assert code.endswith("…")
    assert code[carets.index("^") : carets.rindex("^") + 1] == "b.item()"


@pytest.mark.parametrize("line", [1, 7])
def test_without_the_text_the_place_is_still_told(one_finding: Make, line: int) -> None:
    report, context = one_finding("x", Position(line, 3, line, 4))
    gone = msgspec.structs.replace(context, sources=lambda path: None)
    assert f"--> a.py:{line}:3\n" in render(report, "text", context=gone)
    if line > 1:  # the file has become shorter since it was read
        assert f"--> a.py:{line}:3\n" in render(report, "text", context=context)


def test_names_and_messages_cannot_steer_the_terminal(one_finding: Make) -> None:
    report, context = one_finding("x", Position(1, 1, 1, 2), path="a\x1b[2J.py", message="one\n\x1b]0;two")
    for format in ("text", "concise"):
        assert "\x1b" not in render(report, format, context=context)


def test_a_file_name_that_is_not_utf8_can_be_written(one_finding: Make) -> None:
    report, context = one_finding("x", Position(1, 1, 1, 2), path="caf\udce9.py")
    for format in ("text", "concise", "json", "github", "sarif"):
        assert render(report, format, context=context).encode("utf-8")


def test_a_chain_that_was_told_is_not_told_again(one_finding: Make) -> None:
    report, context = one_finding("x", Position(1, 1, 1, 2))
    (first,) = report.diagnostics
    loop, call, other = (Reason("a.py", n, 1, text) for n, text in ((3, "the step loop"), (4, "f calls g"), (5, "k")))
    alone, again, further = ((loop,), (loop, call), (loop, call, other))
    told = [
        msgspec.structs.replace(first, why=why, at=Position(n, 1, n, 2))
        for n, why in enumerate((alone, again, again, further, further), start=1)
    ]
    lines = render(msgspec.structs.replace(report, diagnostics=tuple(told)), "text", context=context).splitlines()
    notes = [line.strip(" =").removeprefix("note: ") for line in lines if "= note: a.py" in line]
    assert notes == [
        "a.py:3: the step loop",
        "a.py:3: the step loop",
        "a.py:4: f calls g",
        "a.py:3: the step loop, and from there as at a.py:2",
        "a.py:3: the step loop, and from there as at a.py:2",
        "a.py:5: k",
        "a.py:3: the step loop, and from there as at a.py:4",
    ]
