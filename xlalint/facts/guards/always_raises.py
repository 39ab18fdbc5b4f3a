"""Calls that always raise: their arguments are the text of an error, built once if ever."""

from __future__ import annotations

import functools

from xlalint.facts.domain.values import Function
from xlalint.facts.state.frame import Frame
from xlalint.program import ir
from xlalint.program.traversal import names_in


def surely_raises(frame: Frame, node: ir.Expr) -> bool:
    """``check(False, f"bad: {x}")``, of a function of the program that raises where its condition does not hold.

    Methods are left out: what raises in a base may do something in a class of its own.
    """
    if type(node) is not ir.Call or type(node.function) is not ir.Name:
        return False
    callee = frame.evaluate(node.function)
    if type(callee) is not Function or callee.ir.owner or callee.ir.decorators:
        return False
    runs_at_once = not (callee.ir.is_generator or callee.ir.is_async)
    return runs_at_once and raises_given(callee.ir, node)


@functools.lru_cache(maxsize=8192)
def raises_given(function: ir.FunctionIR, node: ir.Call) -> bool:
    """Whether a function surely raises where it is given the constants of a call."""
    return ending(function.body, constant_arguments(function, node)) is True


def constant_arguments(function: ir.FunctionIR, node: ir.Call) -> dict[str, bool]:
    """Whether parameters hold, of those that a call or a default gives a constant."""
    named = {name: value for name, value in node.keywords if name is not None}
    if len(named) < len(node.keywords) or any(type(argument) is ir.Starred for argument in node.arguments):
        return {}
    positional = (parameter.name for parameter in function.parameters if parameter.kind == "positional")
    given = {parameter.name: parameter.default for parameter in function.parameters}
    given |= {**named, **dict(zip(positional, node.arguments, strict=False))}
    return {name: bool(value.value) for name, value in given.items() if type(value) is ir.Constant}


def ending(block: ir.Block, known: dict[str, bool]) -> bool | None:
    """True where a block surely raises, None where what follows decides, False where it may end otherwise."""
    for statement in block:
        if type(statement) is ir.Raise:
            return True
        if type(statement) is ir.If:
            outcome = test_outcome(statement.test, known)
            arms = ((statement.body, True), (statement.orelse, False))
            ends = {ending(arm, known) for arm, runs_on in arms if outcome in (None, runs_on)}
            if ends == {True} or False in ends:
                return False not in ends
        elif type(statement) is ir.Assign:
            if not known.keys().isdisjoint(names_in(statement.targets)):
                return False
        elif type(statement) is not ir.Evaluate:
            return False
    return None


def test_outcome(test: ir.Expr, known: dict[str, bool]) -> bool | None:
    if type(test) is ir.Unary and test.operator == "not":
        outcome = test_outcome(test.operand, known)
        return None if outcome is None else not outcome
    return known.get(test.name) if type(test) is ir.Name else None
