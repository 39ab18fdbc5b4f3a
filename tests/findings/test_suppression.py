"""Comments silence findings where they stand, and those that silence nothing can be found."""

from __future__ import annotations

import pytest
from making import configuration, event, facts, loaded, rule

from xlalint.findings.check import check_file
from xlalint.findings.model import Diagnostic
from xlalint.sources.source import Source

RULES = (loaded(rule()),)
CALL = "loss.item()"


def check(text: str, **table: object) -> list[Diagnostic]:
    """The diagnostics of ``text``, with a scalar read wherever ``loss.item()`` stands in it."""
    events = [
        event(number, len(line[: line.index(CALL)].encode()))
        for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1)
        if CALL in line
    ]
    return [*check_file(Source("x.py", text, "utf-8"), facts(*events), configuration(**table), RULES).diagnostics]


def silenced(text: str) -> bool:
    (found,) = check(text)
    return found.suppressed is not None


@pytest.mark.parametrize(
    "comment",
    [
        "# xlalint: ignore",
        "# xlalint: ignore[XLA101]",
        "#xlalint:ignore[XLA101]",
        "# xlalint: ignore[XLA101] read once an hour",
        "# xlalint: ignore[XLA201, XLA101]",
        "# xlalint: ignore[XLA1]",
        "# xlalint: ignore[scalar-read-in-step]",
        "# xlalint: ignore[host-transfer]",
        "# xlalint: ignore(XLA101)",
        "# xlalint: ignore XLA101",
        "# xlalint: ignore XLA101, XLA201 read once an hour",
        "# xlalint: ignore: XLA101",
        "# xlalint: ignore read once an hour",
        "# xlalint: ignore on a V100",
        "# xlalint: ignore (read once an hour)",
        "# type: ignore  # xlalint: ignore[XLA101]",
        "# noqa: XLA101",
        "# NOQA: xla101",
        "# noqa: XLA1",
        "# noqa: XLA",
        "# noqa: E501, XLA101",
        "# noqa: XLA101 E501",
        "# noqa: E501,XLA1 read once an hour",
        "# noqa:XLA101 because",
    ],
)
def test_a_comment_that_names_the_rule_silences_it(comment: str) -> None:
    (found,) = check(f"x = loss.item()  {comment}\n")
    assert found.suppressed is not None
    assert found.suppressed in comment


@pytest.mark.parametrize(
    "comment",
    [
        "# xlalint: ignore[XLA201]",
        "# xlalint: ignore[]",
        "# xlalint: ignore(XLA201)",
        "# xlalint: ignore XLA201",
        "# xlalint: ignore XLA201 read once an hour",
        "# xlalint: ignore()",
        "# xlalint: disable=XLA101",
        "# xlalint: disable",
        "# xlalint: ignores",
        "# xlalint: ignore-next",
        "# noqa",
        "# NOQA",
        "# noqa  XLA101",
        "# noqa: read once an hour",
        "# noqa: E501",
        "# noqa: E501,F401",
        "# noqa: E501, XLA201",
        "# noqa: ALL",
        "# noqa: XLAB1",
        "# noqa: scalar-read-in-step",
        "# noqa-not",
        "# a comment on noqas",
        "# xlalint",
    ],
)
def test_other_comments_silence_nothing(comment: str) -> None:
    assert not silenced(f"x = loss.item()  {comment}\n")


def test_the_line_that_is_shown_counts_inside_of_a_statement() -> None:
    assert silenced("x = f(\n    1,\n    loss.item(),  # xlalint: ignore[XLA101]\n    2,\n)\n")
    assert silenced("x = {\n    'loss': loss.item(),  # noqa: XLA101\n    'step': 2,\n}\n")
    assert not silenced("x = {\n    'loss': loss.item(),\n    'step': 2,  # noqa: XLA101\n    'of': 3,\n}\n")


def test_the_first_and_the_last_line_of_the_statement_count() -> None:
    assert silenced("x = f(  # noqa: XLA101\n    1,\n    loss.item(),\n)\n")
    assert silenced("x = f(\n    1,\n    loss.item(),\n)  # noqa: XLA101\n")
    assert not silenced("x = f(\n    1,  # noqa: XLA101\n    loss.item(),\n    2)\n")
    assert silenced("if (\n    loss.item()\n):  # noqa: XLA101\n    pass\n")
    assert not silenced("if loss.item():\n    pass  # noqa: XLA101\n")


def test_a_comment_on_a_line_of_its_own_is_for_no_statement() -> None:
    assert not silenced("# xlalint: ignore[XLA101]\nx = loss.item()\n")


def test_a_marker_inside_a_string_is_text() -> None:
    assert not silenced('x = loss.item(), "# noqa: XLA101"\n')
    assert not silenced('"""\n# xlalint: ignore-file\n"""\nx = loss.item()\n')
    assert not silenced('x = f(loss.item(), """\n# noqa: XLA101""")\n')


def test_a_file_can_be_silenced_from_any_line() -> None:
    assert silenced("x = loss.item()\n# xlalint: ignore-file\n")
    assert silenced("# xlalint: ignore-file[XLA101] generated\nx = loss.item()\n")
    assert silenced("import os  # xlalint: ignore-file\nx = loss.item()\n")
    assert not silenced("# xlalint: ignore-file[XLA2]\nx = loss.item()\n")


def test_crlf_and_broken_code_are_no_trouble() -> None:
    assert silenced("a = 1\r\nx = loss.item()  # noqa: XLA101\r\n")
    assert silenced("x = loss.item()  # noqa: XLA101\n'''\nnever closed (\n")


def unused(text: str, **table: object) -> list[tuple[int, int]]:
    table.setdefault("extend_select", ["XLA001"])
    return [(one.at.line, one.at.column) for one in check(text, **table) if one.code == "XLA001"]


def test_unused_suppressions_are_reported_only_when_asked_for() -> None:
    text = "x = 1  # xlalint: ignore[XLA101]\n"
    assert not check(text)
    assert unused(text) == [(1, 8)]
    (found,) = check(text, extend_select=["unused-suppression"])
    assert (found.at.end_column, found.name, found.family) == (33, "unused-suppression", "suppression")


def test_a_suppression_in_use_is_not_reported() -> None:
    assert not unused("x = loss.item()  # xlalint: ignore[XLA101]\n")
    assert not unused("# xlalint: ignore-file\nx = loss.item()\n")
    assert unused("x = loss.item()  # xlalint: ignore[XLA101]\ny = 1  # xlalint: ignore\n") == [(2, 8)]


def told(text: str) -> list[tuple[int, str, str]]:
    found = check(text, extend_select=["XLA001"])
    return [(one.at.line, one.message, one.help) for one in found if one.code == "XLA001"]


def test_a_comment_on_a_line_of_its_own_is_told_where_it_belongs() -> None:
    alone = "this comment stands on a line of its own, and silences nothing"
    text = "# xlalint: ignore[XLA101]\n# why\n\nx = loss.item()\n"
    assert told(text) == [(1, alone, "put it at the end of line 4")]
    inside = "x = f(\n    # noqa: XLA101\n    loss.item(),\n)\n"
    assert told(inside) == [(2, alone, "put it at the end of line 3")]
    assert told("x = loss.item()\n# xlalint: ignore\n") == [(2, alone, "remove it")]


def test_words_of_other_tools_are_told_what_to_write() -> None:
    wrong = "`disable` is no word of xlalint: this comment silences nothing"
    same_line = "x = loss.item()  # xlalint: disable=XLA101\n"
    assert told(same_line) == [(1, wrong, "write `# xlalint: ignore[XLA101]`")]
    above = "# xlalint: disable=XLA101,XLA201\nx = loss.item()\n"
    assert told(above) == [(1, wrong, "write `# xlalint: ignore[XLA101, XLA201]` at the end of line 2")]
    assert told("x = 1  # xlalint: skip-file\n")[0][2] == "write `# xlalint: ignore-file`"
    assert told("x = 1  # xlalint: ignore-next-line\n")[0][2] == "write `# xlalint: ignore`"
    assert not told("x = 1  # xlalint: the linter\n")


def test_a_code_that_is_none_is_named() -> None:
    ((_, message, _),) = told("x = loss.item()  # xlalint: ignore[XLA999]\n")
    assert message == "this comment silences nothing: no rule `XLA999`"


def test_what_was_not_looked_for_is_not_called_unused() -> None:
    assert not unused("x = loss.item()  # xlalint: ignore[XLA101]\n", select=["XLA001"])
    assert unused("x = loss.item()  # xlalint: ignore[XLA999]\n") == [(1, 18)]


def test_an_unused_noqa_is_reported_unless_other_tools_may_need_it() -> None:
    assert unused("x = 1  # noqa: XLA101\n") == [(1, 8)]
    assert unused("x = 1  # noqa: XLA999\n") == [(1, 8)]
    assert not unused("x = 1  # noqa: XLA101, E501\n")
    assert not unused("x = 1  # noqa\n")


def test_the_level_of_unused_suppressions_can_be_set() -> None:
    found = check("x = 1  # xlalint: ignore\n", extend_select=["XLA001"], severity={"XLA001": "error"})
    assert [one.severity.name for one in found] == ["ERROR"]
