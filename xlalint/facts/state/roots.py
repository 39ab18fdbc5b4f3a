"""The root of an event: the value that several places may read, by where it was bound, and what it is read for."""

from __future__ import annotations

from xlalint.facts.effect_traits import TRAITS
from xlalint.facts.events import Effect, RootKind
from xlalint.facts.records import NO_ROOT, RawRoot
from xlalint.facts.state.position import Position
from xlalint.program import ir
from xlalint.program.def_use import statements_of
from xlalint.program.traversal import holders, stored_path, walk

BY_VALUE = frozenset({RootKind.VALUE, RootKind.TEST})
NEGATIONS = frozenset({"not", "invert"})
NO_USE = ("", 0)


def root_of(position: Position, effect: Effect, operand: ir.Expr | None) -> RawRoot:
    """A name is told from one that is bound anew by the statement that bound it, an expression by its names."""
    traits = TRAITS[effect]
    if traits.root is RootKind.CALL:
        return RawRoot(use=use_of(position))
    if operand is None or traits.root not in BY_VALUE:
        return NO_ROOT
    node = without_negation(operand)
    use = use_of(position) if traits.transfer else NO_USE
    tests = tuple(getattr(test, "at", 0) for test, holds in position.tests if holds)
    text, path = getattr(node, "at", 0), stored_path(node)
    if path is not None:
        return RawRoot(text, position.origins.get(path, 0), tests=tests, use=use)
    paths = {stored_path(part) for part in walk(node) if isinstance(part, ir.Name | ir.Attribute)}
    bound = sorted({position.origins.get(each, 0) for each in paths if each is not None})
    return RawRoot(text, 0, tuple(bound), tests=tests, use=use)


def without_negation(node: ir.Expr) -> ir.Expr:
    """``mask`` of ``~mask`` and ``not mask``."""
    while type(node) is ir.Unary and node.operator in NEGATIONS:
        node = node.operand
    return node


def use_of(position: Position) -> tuple[str, int]:
    """What this statement takes a value for: an object of the function that is handed it, or the statement that first
    uses what this one binds."""
    statement, consumer = statements_of(position.function).get(position.statement, (None, 0))
    taker = taker_of(statement)
    if taker is not None and is_own(position, taker):
        return taker, position.origins.get(taker, 0)
    return "", consumer


def taker_of(statement: ir.Stmt | None) -> str | None:
    """``meter`` of ``meter.update(x.item())`` and of ``meter["x"] = x.item()``."""
    if type(statement) is ir.Evaluate and type(statement.value) is ir.Call:
        start = [stored_path(node) for node in holders(statement.value.function)][1:]
    elif type(statement) is ir.Assign and type(statement.targets[0]) is ir.Subscript:
        start = [stored_path(node) for node in holders(statement.targets[0].value)]
    else:
        return None
    return next((path for path in start if path is not None and path != "self"), None)


def is_own(position: Position, path: str) -> bool:
    """Whether it is an object that the function was given or has made, and no module."""
    given = any(one.name == path for one in position.function.parameters)
    return given or path in position.origins or path.startswith("self.")
