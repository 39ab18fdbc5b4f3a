"""Edits of whole statements and of what stands around them."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

import libcst as cst

from xlalint.edits.coordinates import Lines, Point, Range, inserted, replaced
from xlalint.edits.imports import binds, import_line
from xlalint.edits.site import Site
from xlalint.facts.events import Span
from xlalint.findings.model import TextEdit
from xlalint.slicing.syntax_tree import plain_tree

_LEAVES = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_COMMENT = re.compile(r"[ \t\f]*;?[ \t\f]*(?:#.*)?$")


class Placed(NamedTuple):
    """A statement in its block. ``owner`` is the statement whose block it is, or the module."""

    node: ast.stmt
    block: list[ast.stmt]
    owner: ast.AST


def find_statement(site: Site, start: Point) -> Placed | None:
    """The statement that starts at a place, in the tree of the whole file, which alone knows its neighbours."""
    tree = plain_tree(site.source.text)
    owner: ast.AST | None = tree
    while owner is not None:
        inside: ast.AST | None = None
        for block in _blocks(owner):
            for node in block:
                first = _first_line(node)
                if _range(site.lines, node).start == start:
                    return Placed(node, block, owner)
                if first <= start.line <= (node.end_lineno or first):
                    inside = node
        for part in (*getattr(owner, "handlers", ()), *getattr(owner, "cases", ())):
            if part.body[0].lineno <= start.line <= (part.body[-1].end_lineno or 0):
                inside = part
        owner = inside
    return None


def remove_statement(site: Site) -> list[TextEdit] | None:
    """``breakpoint()`` goes, with its line where it stands alone; an empty block gets a ``pass``."""
    if site.small is None or not _is_whole(site, site.small):
        return None
    placed = find_statement(site, site.parsed.ranges[site.small].start)
    if placed is None:
        return None
    where = _range(site.lines, placed.node)
    if len(placed.block) == 1 and not isinstance(placed.owner, ast.Module):
        return [replaced(where, "pass")]
    index = placed.block.index(placed.node)
    if index and _range(site.lines, placed.block[index - 1]).end.line == where.start.line:
        return [replaced(Range(_range(site.lines, placed.block[index - 1]).end, where.end), "")]
    if index + 1 < len(placed.block) and placed.block[index + 1].lineno == where.end.line:
        return [replaced(Range(where.start, _range(site.lines, placed.block[index + 1]).start), "")]
    if site.lines.before(where.start).strip() or not _COMMENT.match(site.lines.after(where.end)):
        # `if debug: breakpoint(); ...` in forms not thought of: the line can't go.
        return [replaced(where, "pass")]
    return [replaced(_whole_lines(site.lines, where), "")]


def append_statement(site: Site) -> list[TextEdit] | None:
    """A statement at the end of the body of the loop at the target, unless the body always leaves before.

    A second argument is the import that the statement needs; without it, the file must have it already.
    """
    text, *needed = site.arguments
    placed = find_statement(site, site.parsed.where.start)
    if placed is None or not isinstance(placed.node, ast.For | ast.AsyncFor | ast.While) or "\n" in text:
        return None
    dotted = re.match(r"[\w.]+(?=\()", text)
    last = placed.node.body[-1]
    imported = dotted is None or binds(site.source, dotted[0])
    if isinstance(last, _LEAVES) or not (imported or needed):
        return None
    addition = _at_end(site, placed.node, text)
    if addition is None or imported:
        return addition
    line = import_line(site.source, site.lines, needed[0])
    return None if line is None else [line, *addition]


def _at_end(site: Site, loop: ast.For | ast.AsyncFor | ast.While, text: str) -> list[TextEdit] | None:
    last = loop.body[-1]
    first = _range(site.lines, loop.body[0])
    end = _range(site.lines, last).end
    if first.start.line == loop.lineno or site.lines.before(first.start).strip():
        return [inserted(end, f"; {text}")]
    if not _COMMENT.match(site.lines.after(end)):
        return None
    return [inserted(site.lines.line_end(end.line), f"\n{site.lines.indent(first.start.line)}{text}")]


def assign_result(site: Site) -> list[TextEdit] | None:
    """``xp.start_server(9012)`` → ``server = xp.start_server(9012)``, where the name is still free in the file."""
    if not isinstance(site.small, cst.Expr) or not _is_whole(site, site.small):
        return None
    if not _is_free(site, site.arguments[0]):
        return None
    return [inserted(site.parsed.ranges[site.small].start, f"{site.arguments[0]} = ")]


def _is_free(site: Site, name: str) -> bool:
    """Whether no variable of the file has this name."""
    tree = plain_tree(site.source.text)
    if tree is None:
        return False
    return not any(name in (getattr(node, "id", ""), getattr(node, "arg", "")) for node in ast.walk(tree))


def _blocks(owner: ast.AST) -> list[list[ast.stmt]]:
    blocks = (getattr(owner, field, None) for field in ("body", "orelse", "finalbody"))
    return [block for block in blocks if isinstance(block, list)]


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _range(lines: Lines, node: ast.stmt) -> Range:
    span = Span(node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or 0)
    found = lines.range(span)
    start = Point(node.lineno, node.col_offset)
    return found or Range(start, start)


def _is_whole(site: Site, small: cst.BaseSmallStatement) -> bool:
    """Whether the target is the whole simple statement, and not a part of one that does more."""
    return site.is_small() or (isinstance(small, cst.Expr) and site.parsed.ranges[small.value] == site.target)


def _whole_lines(lines: Lines, where: Range) -> Range:
    if where.end.line < len(lines):
        return Range(Point(where.start.line, 0), Point(where.end.line + 1, 0))
    # The last line of a file that ends without a newline.
    start = lines.line_end(where.start.line - 1) if where.start.line > 1 else Point(1, 0)
    return Range(start, lines.line_end(where.end.line))
