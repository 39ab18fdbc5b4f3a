"""Text edits against one baseline, merged; where two overlap the first stays and the other is refused whole."""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from xlalint.findings.model import Fix, Position

_NEWLINE = re.compile(r"\r\n|\r|\n")


class Merged(msgspec.Struct, frozen=True):
    """The new text, and what became of each fix. A fix is applied whole or not at all."""

    text: str
    applied: tuple[Fix, ...]
    refused: tuple[Fix, ...]


class _Patch(NamedTuple):
    """An edit by offsets. An insertion at the start of a replaced range comes before it.

    Two fixes may add the same line, such as an import: it is added once.
    """

    start: int
    end: int
    content: str

    def clashes(self, other: _Patch) -> bool:
        if self == other and self.start == self.end and self.content.strip("\r\n") != self.content:
            return False
        if self.start == self.end == other.start == other.end:
            return True
        return self.start < other.end and other.start < self.end


def apply_edits(text: str, fixes: Iterable[Fix]) -> str:
    """The text with all fixes that do not overlap; the order in which they are given does not matter."""
    return merge(text, fixes).text


def merge(text: str, fixes: Iterable[Fix]) -> Merged:
    """Apply fixes to the text that they were made for.

    They are taken in the order of their first edit. Refused are fixes that overlap one taken before and those
    whose places the text does not have. The same fix given twice counts once.
    """
    starts = _line_starts(text)
    taken: list[_Patch] = []
    applied: list[Fix] = []
    refused: list[Fix] = []
    for fix in sorted(dict.fromkeys(fixes), key=_order):
        patches = _patches(fix, text, starts)
        if patches is None or any(patch.clashes(other) for patch in patches for other in taken):
            refused.append(fix)
        else:
            taken += patches
            applied.append(fix)
    return Merged(_patched(text, sorted(set(taken))), tuple(applied), tuple(refused))


def preview(path: str, before: str, after: str) -> str:
    """A unified diff of a file, empty where nothing changes."""
    lines = difflib.unified_diff(_kept_lines(before), _kept_lines(after), f"a/{path}", f"b/{path}")
    return "".join(line if line.endswith(("\n", "\r")) else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _order(fix: Fix) -> tuple[list[tuple[Position, str]], str, str]:
    return sorted((edit.at, edit.content) for edit in fix.edits), fix.title, fix.safety.value


def _line_starts(text: str) -> list[int]:
    return [0, *(match.end() for match in _NEWLINE.finditer(text))]


def _patches(fix: Fix, text: str, starts: list[int]) -> list[_Patch] | None:
    """The edits of a fix by offsets, or None where one lies outside the text or two of them overlap."""
    patches: list[_Patch] = []
    for edit in fix.edits:
        start = _offset(text, starts, edit.at.line, edit.at.column)
        end = _offset(text, starts, edit.at.end_line, edit.at.end_column)
        if start is None or end is None or end < start:
            return None
        patch = _Patch(start, end, edit.content)
        if any(patch.clashes(other) for other in patches):
            return None
        patches.append(patch)
    return patches


def _offset(text: str, starts: list[int], line: int, column: int) -> int | None:
    if not 1 <= line <= len(starts) or column < 1:
        return None
    start = starts[line - 1]
    end = starts[line] if line < len(starts) else len(text)
    content = text[start:end].rstrip("\r\n")
    return start + column - 1 if column - 1 <= len(content) else None


def _patched(text: str, patches: list[_Patch]) -> str:
    pieces: list[str] = []
    at = 0
    for patch in patches:
        pieces += (text[at : patch.start], patch.content)
        at = patch.end
    return "".join([*pieces, text[at:]])


def _kept_lines(text: str) -> list[str]:
    """Lines with their newlines; unlike ``splitlines``, a form feed ends none."""
    starts = [*_line_starts(text), len(text)]
    return [text[a:b] for a, b in itertools.pairwise(starts) if a < b]
