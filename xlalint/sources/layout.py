"""Finds the logical lines and comments of a text without parsing.

``tokenize`` gives the same and takes about five times as long; and it gives up on broken code, where this goes on.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cached_property
from itertools import accumulate

import msgspec

from xlalint.sources.patterns import lazy_pattern

_TOKEN = lazy_pattern(
    # What stands before means nothing to the layout: all but quotes, hashes, brackets, backslashes; and brackets that
    # close on their line around nothing special. Each piece begins with what the one before can't hold: linear.
    r"[^()\[\]{}\"'\#\\]*(?:[(\[{][^()\[\]{}\"'\#\\\n]*[)\]}][^()\[\]{}\"'\#\\]*)*"
    # Strings whole: brackets, quotes and hashes in them mean nothing. A string that is never closed ends
    # with its line, or with the text if it has three quotes.
    # The pieces of each never fail once begun, so there is nothing to try again: linear, whatever the text.
    r"(\"\"\"(?:[^\"\\]+|\\(?:.|\Z)|\"(?!\"\"))*(?:\"\"\"|\Z)|'''(?:[^'\\]+|\\(?:.|\Z)|'(?!''))*(?:'''|\Z)"
    r"|\"(?:[^\"\\\n]+|\\(?:.|\Z))*(?:\"|(?=\n)|\Z)|'(?:[^'\\\n]+|\\(?:.|\Z))*(?:'|(?=\n)|\Z)"
    r"|\#[^\n]*|[(\[{]|[)\]}]|\\\n?|\Z)",
    re.DOTALL,
)

_HEADER = lazy_pattern(r"\s*(?:if|elif|else|while|for|with|async|def|class|try|except|finally|match|case)\b", re.ASCII)


class Comment(msgspec.Struct, frozen=True):
    """``line`` and ``column`` 1-based, the column in code points; ``alone`` where no code stands before it."""

    line: int
    column: int
    text: str
    alone: bool


class Statement(msgspec.Struct, frozen=True):
    """A logical line: a simple statement, or the header of a compound one. Lines 1-based, both included."""

    first: int
    last: int
    text: str


class Code(msgspec.Struct, frozen=True):
    """Where the code of a logical line stands: lines 1-based, columns 0-based in UTF-8 bytes, end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


class Layout:
    """What a scan of a text found. Newlines must be LF only."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._held, self._comments = _scan(text)

    @cached_property
    def comments(self) -> tuple[Comment, ...]:
        return tuple(self._comment(start, end) for start, end in self._comments)

    def statement_at(self, line: int) -> Statement:
        """The logical line that holds the physical ``line``; a blank or comment line is one by itself."""
        first = last = min(max(line, 1), len(self._starts))
        while (held := self._holding(self._starts[first - 1] - 1)) is not None:
            first = self._line_of(held[0])
        while last < len(self._starts) and (held := self._holding(self._starts[last] - 1)) is not None:
            last = self._line_of(held[1])
        end = self._starts[last] if last < len(self._starts) else len(self._text)
        return Statement(first, last, self._text[self._starts[first - 1] : end].rstrip("\n"))

    def _holding(self, newline: int) -> tuple[int, int] | None:
        """The range in which the line break at this offset ends no logical line."""
        number = bisect_right(self._held, (newline, len(self._text)))
        return self._held[number - 1] if number and newline < self._held[number - 1][1] else None

    def code_after(self, line: int) -> int | None:
        """The first line below ``line`` with more than a comment on it."""
        lines = self._text.split("\n")[line:]
        alone = {comment.line for comment in self.comments if comment.alone}
        numbered = enumerate(lines, line + 1)
        return next((number for number, text in numbered if text.strip() and number not in alone), None)

    def code_at(self, line: int) -> Code:
        """The code of the logical line that holds ``line``: without indentation, comment, and a header's colon."""
        statement = self.statement_at(line)
        lines = statement.text.split("\n")
        first, last = lines[0], lines[-1]
        # Only what follows the code on the last line can go: nothing, or one comment.
        begin = self._starts[statement.last - 1]
        number = bisect_left(self._comments, (begin, 0))
        if number < len(self._comments) and self._line_of(self._comments[number][0]) == statement.last:
            last = last[: self._comments[number][0] - begin]
        last = last.rstrip()
        if last.endswith(":") and _HEADER.match(first):
            last = last[:-1].rstrip()
        indentation = len(first) - len(first.lstrip())
        return Code(statement.first, indentation, statement.last, len(last.encode("utf-8", "surrogatepass")))

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *accumulate(len(line) + 1 for line in self._text.split("\n")[:-1])]

    def _line_of(self, offset: int) -> int:
        return bisect_right(self._starts, offset)

    def _comment(self, start: int, end: int) -> Comment:
        line = self._line_of(start)
        begin = self._starts[line - 1]
        return Comment(line, start - begin + 1, self._text[start:end], not self._text[begin:start].strip())


def _scan(text: str) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The ranges in which a line break ends no logical line, in order, and those of the comments."""
    held: list[tuple[int, int]] = []
    comments: list[tuple[int, int]] = []
    depth = opened = 0
    for match in _TOKEN.finditer(text):
        start, end = match.span(1)
        first = text[start : start + 1]
        if first and first in "([{":
            opened = start if depth == 0 else opened
            depth += 1
        elif first and first in ")]}":
            if depth == 1:
                held.append((opened, end))
            depth = max(0, depth - 1)
        elif first == "#":
            comments.append((start, end))
        elif depth == 0 and text.find("\n", start, end) >= 0:
            held.append((start, end))
    if depth:
        held.append((opened, len(text)))
    return held, comments
