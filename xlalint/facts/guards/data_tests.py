"""Tests of a tensor's value: some ask for what hardly occurs, and some lead to nothing but a message of the log."""

from __future__ import annotations

import functools

from xlalint.facts.domain.known_names import LEVELS
from xlalint.program import ir
from xlalint.program.traversal import called_name

UNUSUAL = frozenset({"isnan", "isinf"})
USUAL = frozenset({"isfinite", "any"})
TELLING = LEVELS | {"warn_once"}


@functools.lru_cache(maxsize=8192)
def arm_is_unusual(node: ir.If, outcome: bool) -> bool:
    """Whether an arm behind a test of a tensor's value runs now and then."""
    return asks_for_unusual(node.test, outcome) or tells_only(node.body if outcome else node.orelse)


def asks_for_unusual(test: ir.Expr, outcome: bool) -> bool:
    """``x.sum() == 0``, ``not mask.any()``, ``torch.isnan(loss).any()``: this outcome is that of few data."""
    if type(test) is ir.Unary and test.operator == "not":
        return asks_for_unusual(test.operand, not outcome)
    if type(test) is ir.Boolean:
        parts = [asks_for_unusual(value, outcome) for value in test.values]
        return any(parts) if (test.operator == "and") == outcome else all(parts)
    if type(test) is ir.Compare:
        return asks_for_nothing(test, outcome)
    names = called_names(test)
    if not names.isdisjoint(UNUSUAL):
        return outcome
    return not outcome and not names.isdisjoint(USUAL)


def asks_for_nothing(test: ir.Compare, outcome: bool) -> bool:
    """``ds.sum() == 0``, or what is not ``ds.sum() > 0``."""
    if len(test.operators) != 1 or type(test.rights[0]) is not ir.Constant or test.rights[0].value != 0:
        return False
    return test.operators[0] in (("eq", "le") if outcome else ("ne", "gt")) and type(test.left) is ir.Call


def called_names(node: ir.Expr) -> frozenset[str]:
    """The names of the calls in a chain of methods: ``isnan`` and ``any`` in ``torch.isnan(x).any().item()``."""
    found = set()
    while isinstance(node, ir.Call | ir.Attribute):
        if isinstance(node, ir.Call):
            found.add(called_name(node))
            node = node.function
        else:
            node = node.value
    return frozenset(found)


def tells_only(block: ir.Block) -> bool:
    """A block of messages of the log; what is printed is asked for in each step."""
    return bool(block) and all(type(statement) is ir.Evaluate and is_message(statement.value) for statement in block)


def is_message(value: ir.Expr) -> bool:
    return type(value) is ir.Call and called_name(value) in TELLING
