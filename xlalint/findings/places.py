"""Converts spans to the positions that reports show; spans inside f-strings are resolved by libcst."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Protocol

from xlalint.facts.events import Span
from xlalint.findings.model import Position
from xlalint.sources.patterns import lazy_pattern

Lines = Sequence[str]
_FORMATTED = lazy_pattern(r"(?:[fFtT][rR]?|[rR][fFtT])[\"']")
"""The beginning of an f-string, or what looks like it. Before Python 3.12 ``ast`` guesses the places inside of one."""
_MOST_COLUMNS, _MOST_LINES = (1 << 16) - 1, (1 << 12) - 1
"""What a packed span can hold: one that reaches these may have been clipped."""


class Anchors(Protocol):
    """The exact places of one file."""

    def anchor(self, span: Span, statement: Span) -> Position | None:
        """Where ``span`` stands in ``statement``; None if there is no such node."""
        ...


class PlainAnchors:
    """Spans that need no second reader are converted; ``exact`` is made for the first that needs one.

    For the about 4,000 findings of five packages the two readers gave the same place wherever both knew it, and
    reading a statement again took as long as judging did.
    """

    def __init__(self, lines: Lines, exact: Callable[[], Anchors]) -> None:
        self._lines = lines
        self._make_exact = exact

    @cached_property
    def _exact(self) -> Anchors:
        return self._make_exact()

    def anchor(self, span: Span, statement: Span) -> Position | None:
        if self._is_plain(span, statement):
            return position_of(self._lines, span)
        return self._exact.anchor(span, statement)

    def _is_plain(self, span: Span, statement: Span) -> bool:
        if span.end_line - span.line >= _MOST_LINES or max(span.column, span.end_column) >= _MOST_COLUMNS:
            return False
        if span.line < statement.line or span.end_line > statement.end_line:
            return False
        return not any(map(_FORMATTED.search, self._lines[statement.line - 1 : statement.end_line]))


def position_of(lines: Lines, span: Span) -> Position:
    """A span as it is shown. Columns in lines that aren't there are taken for ASCII."""
    return Position(
        span.line,
        _column(lines, span.line, span.column),
        span.end_line,
        _column(lines, span.end_line, span.end_column),
    )


def _column(lines: Lines, line: int, offset: int) -> int:
    text = lines[line - 1] if 0 < line <= len(lines) else ""
    if text.isascii():
        return offset + 1
    return len(text.encode("utf-8", "surrogatepass")[:offset].decode("utf-8", "ignore")) + 1
