"""``if c: x = a else: x = b`` → ``x = torch.where(c, a, b)``: both arms are computed, nothing is read."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

import libcst as cst

from xlalint.edits.blocks import find_statement
from xlalint.edits.coordinates import Range, replaced
from xlalint.edits.imports import binds
from xlalint.edits.site import Site
from xlalint.edits.statement import Parsed, parse_block
from xlalint.facts.events import Span
from xlalint.findings.model import TextEdit

_TESTS = (cst.Call, cst.Name, cst.Attribute, cst.Subscript, cst.BinaryOperation, cst.Comparison)
_COMPARED = (cst.LessThan, cst.LessThanEqual, cst.GreaterThan, cst.GreaterThanEqual, cst.Equal, cst.NotEqual)
_ARMS = (
    cst.Name,
    cst.Attribute,
    cst.Call,
    cst.Subscript,
    cst.BinaryOperation,
    cst.UnaryOperation,
    cst.Integer,
    cst.Float,
)
# A Python bool or number where a tensor is wanted.
_READ = re.compile(r"\.item\(|\b(?:bool|float|int|len|isinstance|hasattr|getattr)\(")


class _Choice(NamedTuple):
    """A test and what it chooses between."""

    test: cst.BaseExpression
    yes: cst.BaseExpression
    no: cst.BaseExpression


def branch_to_where(site: Site) -> list[TextEdit] | None:
    """The target is the test, the conditional expression, or the header of the ``if`` statement."""
    if not binds(site.source, "torch.where"):
        return None
    node = site.parsed.expression(site.target)
    for around in () if node is None else (node, *site.parsed.above(node)):
        if isinstance(around, cst.IfExp) and (around is node or around.test is node):
            return _expression(site, around)
        if isinstance(around, cst.If) and around.test is node:
            return _statement(site)
    return _statement(site) if site.target.start == site.parsed.where.start else None


def _expression(site: Site, node: cst.IfExp) -> list[TextEdit] | None:
    where = site.parsed.ranges[node]
    choice = _Choice(node.test, node.body, node.orelse)
    new = _where(site, site.parsed, choice)
    if new is None or _comments(site.parsed, where, choice):
        return None
    return [replaced(where, new)]


def _statement(site: Site) -> list[TextEdit] | None:
    placed = find_statement(site, site.parsed.where.start)
    if placed is None or not isinstance(placed.node, ast.If) or site.lines.text(site.parsed.where).startswith("elif"):
        return None
    node = placed.node
    where = site.lines.range(
        Span(node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or 0)
    )
    parsed = None if where is None else parse_block(site.lines, where)
    block = None if parsed is None or where is None else _if_at(parsed, where)
    if parsed is None or where is None or block is None or not isinstance(block.orelse, cst.Else):
        return None
    yes, no = _only_assignment(block.body), _only_assignment(block.orelse.body)
    if yes is None or no is None:
        return None
    names = {site.lines.text(parsed.outer(arm.targets[0].target)) for arm in (yes, no)}
    choice = _Choice(block.test, yes.value, no.value)
    new = _where(site, parsed, choice)
    if len(names) > 1 or new is None or isinstance(yes.targets[0].target, cst.Tuple | cst.List):
        return None
    indent = site.lines.before(where.start)
    above = "".join(f"{comment}\n{indent}" for comment in _comments(parsed, where, choice))
    return [replaced(where, f"{above}{names.pop()} = {new}")]


def _if_at(parsed: Parsed, where: Range) -> cst.If | None:
    """The statement without what was put around it to parse it."""
    return next((n for n, r in parsed.ranges.items() if isinstance(n, cst.If) and r.start == where.start), None)


def _only_assignment(body: cst.BaseSuite) -> cst.Assign | None:
    small: list[cst.BaseSmallStatement] = []
    for statement in (body,) if isinstance(body, cst.SimpleStatementSuite) else body.body:
        if not isinstance(statement, cst.SimpleStatementLine | cst.SimpleStatementSuite):
            return None
        small += statement.body
    only = small[0] if len(small) == 1 else None
    return only if isinstance(only, cst.Assign) and len(only.targets) == 1 else None


def _where(site: Site, parsed: Parsed, choice: _Choice) -> str | None:
    """The call, or None where the test is no tensor's or an arm is no tensor or number."""
    test, yes, no = choice
    while isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        test, yes, no = test.expression, no, yes
    if not _is_tensor_test(test) or not isinstance(yes, _ARMS) or not isinstance(no, _ARMS):
        return None
    parts = [site.lines.text(parsed.outer(part)) for part in (test, yes, no)]
    if _READ.search(parts[0]) or "None" in parts[1:] or any(":=" in part or "await " in part for part in parts):
        return None
    return f"torch.where({', '.join(parts)})"


def _is_tensor_test(test: cst.BaseExpression) -> bool:
    if isinstance(test, cst.Comparison):
        return len(test.comparisons) == 1 and isinstance(test.comparisons[0].operator, _COMPARED)
    inverted = isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.BitInvert)
    return inverted or isinstance(test, _TESTS)


def _comments(parsed: Parsed, where: Range, choice: _Choice) -> list[str]:
    """The comments that the new text would lose: those of the arms and of the test come along."""
    kept = [parsed.outer(part) for part in choice]
    return [
        node.value
        for node, at in sorted(parsed.ranges.items(), key=lambda item: item[1])
        if isinstance(node, cst.Comment) and where.contains(at) and not any(part.contains(at) for part in kept)
    ]
