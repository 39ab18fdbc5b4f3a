"""Ranges of text: the fast reading counts bytes, libcst counts code points, people count from one."""

from __future__ import annotations

from typing import NamedTuple

from xlalint.facts.events import Span
from xlalint.findings.model import Position, TextEdit


class Point(NamedTuple):
    """A place between two characters: line 1-based, column 0-based in code points."""

    line: int
    column: int


class Range(NamedTuple):
    """A range of text, end exclusive."""

    start: Point
    end: Point

    def contains(self, other: Range) -> bool:
        return self.start <= other.start and other.end <= self.end


class Lines:
    """The lines of one file as the tokenizer counts them, and the ways between the coordinates.

    Text cut from it has LF as its newline, whatever the file has.
    """

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines

    def __len__(self) -> int:
        return len(self._lines)

    def line(self, number: int) -> str:
        """The text of a line (1-based), without its newline."""
        return self._lines[number - 1]

    def range(self, span: Span) -> Range | None:
        """A span in code points, or None where it lies outside the file or cuts a character in two."""
        start = self._point(span.line, span.column)
        end = self._point(span.end_line, span.end_column)
        if start is None or end is None or end < start:
            return None
        return Range(start, end)

    def _point(self, line: int, byte_column: int) -> Point | None:
        if not 1 <= line <= len(self._lines) or byte_column < 0:
            return None
        text = self._lines[line - 1]
        if text.isascii():
            return Point(line, byte_column) if byte_column <= len(text) else None
        data = text.encode("utf-8", "surrogatepass")
        if byte_column > len(data):
            return None
        try:
            return Point(line, len(data[:byte_column].decode("utf-8", "surrogatepass")))
        except UnicodeDecodeError:
            return None

    def text(self, where: Range) -> str:
        (first, start), (last, end) = where
        if first == last:
            return self._lines[first - 1][start:end]
        middle = self._lines[first : last - 1]
        return "\n".join([self._lines[first - 1][start:], *middle, self._lines[last - 1][:end]])

    def before(self, point: Point) -> str:
        """The text of the line before a point."""
        return self._lines[point.line - 1][: point.column]

    def after(self, point: Point) -> str:
        """The text of the line after a point."""
        return self._lines[point.line - 1][point.column :]

    def indent(self, line: int) -> str:
        text = self._lines[line - 1]
        return text[: len(text) - len(text.lstrip(" \t\f"))]

    def line_end(self, line: int) -> Point:
        return Point(line, len(self._lines[line - 1]))


def position(where: Range) -> Position:
    return Position(where.start.line, where.start.column + 1, where.end.line, where.end.column + 1)


def replaced(where: Range, content: str) -> TextEdit:
    return TextEdit(position(where), content)


def inserted(point: Point, content: str) -> TextEdit:
    return TextEdit(position(Range(point, point)), content)
