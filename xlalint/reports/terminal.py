"""Text for a terminal: colours, and what a character takes in columns."""

from __future__ import annotations

import unicodedata
from enum import Enum

from xlalint.findings.model import Severity

TAB = 4
"""Columns from one tab stop to the next; only carets and code share it, so any number will do."""

# Controls could move the cursor or colour the screen; format characters could reverse the line.
_UNSHOWABLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_ZERO_WIDTH = frozenset({"Mn", "Me"})


class Style(Enum):
    BOLD = "1"
    ERROR = "1;31"
    WARNING = "1;33"
    NOTE = "1;36"
    GUTTER = "1;34"
    HELP = "1;32"


def painted(text: str, style: Style, color: bool) -> str:
    return f"\x1b[{style.value}m{text}\x1b[0m" if color and text else text


def severity_style(severity: Severity) -> Style:
    return Style[severity.name]


def shown_text(text: str) -> str:
    """On one line, and without characters that a terminal would obey instead of show."""
    if text.isprintable():
        return text
    one_line = " ".join(line.strip() for line in text.splitlines())
    return "".join(shown_character(character) for character in one_line)


def shown_character(character: str) -> str:
    return "\ufffd" if unicodedata.category(character) in _UNSHOWABLE else character


def columns(line: str) -> tuple[str, list[int]]:
    """The line as shown, tabs expanded, and the column where each of its characters starts; the last is its width."""
    if line.isascii() and line.isprintable():
        return line, list(range(len(line) + 1))
    parts: list[str] = []
    starts = [0]
    for character in line:
        at = starts[-1]
        if character == "\t":
            width = TAB - at % TAB
            parts.append(" " * width)
        else:
            parts.append(shown_character(character))
            width = _width(parts[-1])
        starts.append(at + width)
    return "".join(parts), starts


def _width(character: str) -> int:
    if unicodedata.category(character) in _ZERO_WIDTH:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
