"""Tests for the first turn by what a loop gathers: ``if len(found) == 0:`` where each turn appends to ``found``."""

from __future__ import annotations

import functools

from xlalint.program import ir
from xlalint.program.def_use import way_to
from xlalint.program.traversal import blocks_of, path_of, plain_callee, statements_in

FILLING = frozenset({"append", "extend", "insert", "add", "update", "appendleft"})
EMPTYING = frozenset({"clear", "pop", "popleft", "popitem", "remove", "discard"})


@functools.lru_cache(maxsize=8192)
def arm_of_first_turn(function: ir.FunctionIR, node: ir.If) -> bool | None:
    """The outcome of a test that only the first turn of the loop around sees, since each turn puts something into what
    is asked to be empty, and none takes all of it away. None for other tests."""
    asked = asked_for_empty(node.test, True)
    if asked is None:
        return None
    name, outcome = asked
    way = way_to(function.body, node)
    inner = [i for i, (block, at) in enumerate(way) if type(block[at]) in (ir.For, ir.While)]
    if not inner:
        return None
    loop = way[inner[-1]][0][way[inner[-1]][1]]
    if any(takes_away(statement, name) for block in blocks_of(loop) for statement in statements_in(block)):
        return None
    arm = node.body if outcome else node.orelse
    beside = [statement for block, _ in way[inner[-1] + 1 :] for statement in block]
    return outcome if any(fills(one, name) for one in (*arm, *beside)) else None


def asked_for_empty(test: ir.Expr, outcome: bool) -> tuple[str, bool] | None:
    """The name of what a test asks to be empty, and the outcome for which it is: ``not found``, ``len(found) == 0``,
    ``found == []``, and ``len(found) > 0`` with the other one."""
    if type(test) is ir.Unary and test.operator == "not":
        return asked_for_empty(test.operand, not outcome)
    if type(test) is ir.Name:
        return test.name, not outcome
    if type(test) is ir.Call:
        name = counted(test)
        return None if name is None else (name, not outcome)
    if type(test) is not ir.Compare or len(test.operators) != 1:
        return None
    right = test.rights[0]
    if type(right) is ir.Display and not right.elements and type(test.left) is ir.Name:
        return by_operator(test.left.name, {"eq": outcome, "ne": not outcome}.get(test.operators[0]))
    if type(right) is not ir.Constant:
        return None
    return by_operator(counted(test.left), OUTCOMES.get((test.operators[0], right.value)), outcome)


OUTCOMES = {("eq", 0): True, ("le", 0): True, ("lt", 1): True, ("ne", 0): False, ("gt", 0): False, ("ge", 1): False}
"""Whether a comparison of a number of things holds where there are none."""


def by_operator(name: str | None, is_empty: bool | None, outcome: bool = True) -> tuple[str, bool] | None:
    return None if name is None or is_empty is None else (name, is_empty == outcome)


def counted(node: ir.Expr) -> str | None:
    """``found`` in ``len(found)``."""
    if type(node) is not ir.Call or plain_callee(node) != "len" or len(node.arguments) != 1:
        return None
    return node.arguments[0].name if type(node.arguments[0]) is ir.Name else None


def fills(statement: ir.Stmt, name: str) -> bool:
    """``found.append(x)``, ``found += [x]``, ``found[key] = x``."""
    if type(statement) is ir.Augmented:
        return statement.operator == "add" and path_of(statement.target) == name
    if type(statement) is ir.Assign:
        return any(type(target) is ir.Subscript and path_of(target.value) == name for target in statement.targets)
    return called_on(statement, name) in FILLING


def takes_away(statement: ir.Stmt, name: str) -> bool:
    """Whether a statement binds a name anew, or takes something out of what it holds."""
    if type(statement) is ir.Assign:
        return any(path_of(target) == name for target in statement.targets)
    return type(statement) is ir.Delete or called_on(statement, name) in EMPTYING


def called_on(statement: ir.Stmt, name: str) -> str:
    """The method of a named object that a statement calls."""
    call = getattr(statement, "value", None)
    function = call.function if type(call) is ir.Call else None
    return function.name if type(function) is ir.Attribute and path_of(function.value) == name else ""
