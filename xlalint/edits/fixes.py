"""The closed set of edits: a fix is named by a rule as data, and made here.

Text edits are as small as they can be, so that comments and formatting stay and fixes of one statement seldom
overlap. No edit raises: where the code has not the form that the edit needs, there is no fix.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from xlalint.edits.blocks import append_statement, assign_result, remove_statement
from xlalint.edits.branches import branch_to_where
from xlalint.edits.calls import (
    add_keyword,
    drop_keyword,
    make_on_device,
    replace_callee,
    replace_method,
    set_argument,
    set_keyword,
)
from xlalint.edits.coordinates import Lines
from xlalint.edits.expressions import (
    append_attribute,
    append_call,
    boolean_to_logical,
    index_to_tensor,
    mask_assign_to_fill,
    mask_sum_to_where,
)
from xlalint.edits.logging_calls import lazy_logging
from xlalint.edits.merge import merge
from xlalint.edits.site import Maker, Site
from xlalint.edits.statement import parse_statement
from xlalint.facts.events import Span
from xlalint.findings.model import Edit, Fix, Position, Safety, TextEdit
from xlalint.slicing.syntax_tree import plain_tree
from xlalint.sources.source import Source


class _Kind(NamedTuple):
    """How an edit is made, and how many arguments it takes."""

    make: Maker
    least: int = 0
    most: int = 0


KINDS: Mapping[str, _Kind] = {
    "add-keyword": _Kind(add_keyword, 2, 3),
    "append-attribute": _Kind(append_attribute, 1, 2),
    "append-call": _Kind(append_call, 1, 1),
    "append-statement": _Kind(append_statement, 1, 2),
    "assign-result": _Kind(assign_result, 1, 1),
    "boolean-to-logical": _Kind(boolean_to_logical),
    "branch-to-where": _Kind(branch_to_where),
    "drop-keyword": _Kind(drop_keyword, 1, 1),
    "index-to-tensor": _Kind(index_to_tensor),
    "lazy-logging": _Kind(lazy_logging),
    "make-on-device": _Kind(make_on_device),
    "mask-assign-to-fill": _Kind(mask_assign_to_fill, 0, 1),
    "mask-sum-to-where": _Kind(mask_sum_to_where),
    "remove-statement": _Kind(remove_statement),
    "replace-callee": _Kind(replace_callee, 1, 2),
    "replace-method": _Kind(replace_method, 1, 1),
    "set-argument": _Kind(set_argument, 3, 3),
    "set-keyword": _Kind(set_keyword, 2, 2),
}
"""All edits by name. A rule that names another one has a bug, which the test of the rules shows."""


def text_edits(edit: Edit, source: Source, statement: Span) -> Fix | None:
    """The fix as text, or None where the code has not the form that the edit needs.

    ``statement`` is the statement around ``edit.span`` as for ``Anchors.anchor``. New lines are written as the file
    writes them.
    """
    kind = KINDS.get(edit.kind)
    lines = Lines(source.lines())
    target, where = lines.range(edit.span), lines.range(statement)
    if kind is None or target is None or where is None or not kind.least <= len(edit.arguments) <= kind.most:
        return None
    parsed = parse_statement(lines, where)
    if parsed is None:
        return None
    site = Site(source, lines, parsed, target, edit.arguments)
    edits = kind.make(site)
    if not edits or not _parses(site, edits := [_apart(lines, each) for each in edits]):
        return None
    newline = _newline(source.text)
    written = (TextEdit(each.at, each.content.replace("\n", newline)) for each in edits)
    return Fix(edit.title, edit.safety, tuple(sorted(written, key=lambda each: each.at)))


def _apart(lines: Lines, edit: TextEdit) -> TextEdit:
    """Keep words apart: ``return(a)and b`` must not become ``returntorch…``."""
    at, content = edit.at, edit.content
    before = lines.line(at.line)[: at.column - 1][-1:]
    after = lines.line(at.end_line)[at.end_column - 1 :][:1] if at.end_line <= len(lines) else ""
    left = " " if _is_word(before) and _is_word(content[:1]) else ""
    right = " " if _is_word(content[-1:]) and _is_word(after) else ""
    return TextEdit(at, f"{left}{content}{right}")


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _newline(text: str) -> str:
    end = text.find("\n")
    if end < 0:
        return "\r" if "\r" in text else "\n"
    return "\r\n" if text[:end].endswith("\r") else "\n"


def _parses(site: Site, edits: list[TextEdit]) -> bool:
    """Whether the statement is one still. An edit beyond the statement changes whole lines, and is not looked at."""
    frame, (start, end) = site.parsed.frame, site.parsed.where
    moved: list[TextEdit] = []
    for edit in edits:
        at = edit.at
        if (at.line, at.column - 1) < start or (at.end_line, at.end_column - 1) > end:
            return True
        shifted = Position(
            at.line - start.line + 1,
            at.column - (start.column if at.line == start.line else 0),
            at.end_line - start.line + 1,
            at.end_column - (start.column if at.end_line == start.line else 0),
        )
        moved.append(TextEdit(shifted, edit.content))
    merged = merge(frame.text, [Fix("", Safety.UNSAFE, tuple(moved))])
    if merged.refused or merged.text == frame.text:
        return False
    return plain_tree(frame._replace(text=merged.text).module()) is not None
