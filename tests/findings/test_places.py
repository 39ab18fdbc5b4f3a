"""Places of findings: converted where the fast reading is exact, asked for where it may have guessed."""

from __future__ import annotations

import pytest

from xlalint.facts.events import Span
from xlalint.findings.model import Position
from xlalint.findings.places import Anchors, PlainAnchors

LINES = ['größe = "é"; print(loss.item())', 'print(f"{loss.item()}")', 'half = {"half": x[mask]}', "f(", "  x)"]
ASKED = Position(9, 9, 9, 9)


class Exact:
    def anchor(self, span: Span, statement: Span) -> Position | None:
        return ASKED


def exact() -> Anchors:
    return Exact()


def never() -> Anchors:
    raise AssertionError("the second reader is asked")


def whole(line: int) -> Span:
    return Span(line, 0, line, len(LINES[line - 1].encode()))


def test_a_plain_span_is_converted_without_a_second_reader() -> None:
    anchors = PlainAnchors(LINES, never)
    assert anchors.anchor(Span(1, 22, 1, 33), whole(1)) == Position(1, 20, 1, 31)
    assert anchors.anchor(Span(5, 2, 5, 3), Span(4, 0, 5, 4)) == Position(5, 3, 5, 4)


@pytest.mark.parametrize(
    ("span", "statement"),
    [
        (Span(2, 9, 2, 20), whole(2)),  # an f-string
        (Span(3, 16, 3, 23), whole(3)),  # what may be the beginning of one
        (Span(1, 0, 4, 2), whole(1)),  # not inside of the statement
        (Span(4, 0, 5, 65_535), Span(4, 0, 5, 4)),  # clipped
    ],
)
def test_what_may_be_a_guess_is_asked_for(span: Span, statement: Span) -> None:
    assert PlainAnchors(LINES, exact).anchor(span, statement) == ASKED
