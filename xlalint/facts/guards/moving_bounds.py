"""Moving bounds: branches that put off their own condition, as ``if now - last > pause: last = now`` does."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from xlalint.program import ir
from xlalint.program.def_use import assignments_of
from xlalint.program.traversal import blocks_of, path_of, plain_callee, walk

ORDERS = frozenset({"lt", "le", "gt", "ge"})
SUMS = frozenset({"add", "sub"})
PARTS = (ir.Name, ir.Attribute)


@functools.lru_cache(maxsize=8192)
def moves_bound(function: ir.FunctionIR, node: ir.If) -> bool:
    """Whether the body changes what a comparison in the test asks about, so that it holds later again: a counter is
    emptied, a bound or the place that a distance is taken from is moved."""
    tests = [part for part in conjuncts(node.test) if type(part) is ir.Compare and len(part.operators) == 1]
    return any(
        empties(statement, counted) or moves(function, statement, test)
        for test in tests
        for counted in (counted_in(test),)
        for statement in statements_in(node.body)
    )


def conjuncts(test: ir.Expr) -> tuple[ir.Expr, ...]:
    return test.values if type(test) is ir.Boolean and test.operator == "and" else (test,)


def statements_in(block: ir.Block) -> Iterator[ir.Stmt]:
    for statement in block:
        yield statement
        if type(statement) in (ir.If, ir.With):
            for inner in blocks_of(statement):
                yield from statements_in(inner)


def counted_in(test: ir.Compare) -> str | None:
    """``rows`` of ``len(rows) == k``, ``count`` of ``count >= k``."""
    if test.operators[0] not in ("eq", "ge", "gt"):
        return None
    counted = test.left
    if type(counted) is ir.Call and plain_callee(counted) == "len" and len(counted.arguments) == 1:
        counted = counted.arguments[0]
    return path_of(counted)


def empties(statement: ir.Stmt, path: str | None) -> bool:
    """``rows.clear()``, ``rows = []``, ``count = 0``."""
    if path is None:
        return False
    if type(statement) is ir.Evaluate and type(statement.value) is ir.Call:
        function = statement.value.function
        return type(function) is ir.Attribute and function.name == "clear" and path_of(function.value) == path
    if type(statement) is not ir.Assign or path_of(statement.targets[0]) != path:
        return False
    value = statement.value
    return (type(value) is ir.Constant and value.value == 0) or (type(value) is ir.Display and not value.elements)


def moves(function: ir.FunctionIR, statement: ir.Stmt, test: ir.Compare) -> bool:
    """``limit += every``, ``limit = count + every`` where ``count >= limit`` is asked, ``last = count`` where ``count -
    last >= every`` is."""
    if test.operators[0] not in ORDERS or not isinstance(statement, (ir.Augmented, ir.Assign)):
        return False
    sides = [meaning(function, side) for side in (test.left, test.rights[0])]
    if isinstance(statement, ir.Augmented):
        return statement.operator in SUMS and is_overtaken(function, sides, path_of(statement.target))
    target = path_of(statement.targets[0])
    if target is None:
        return False
    if any(type(side) is ir.Binary and side.operator in SUMS and target in paths_in(side) for side in sides):
        return True
    bare = any(path_of(side) == target for side in sides)
    asked = frozenset().union(*map(paths_in, sides)) - {target}
    value = statement.value
    is_ahead = type(value) is ir.Binary and value.operator in SUMS
    return bare and is_ahead and not asked.isdisjoint(paths_in(value))


def is_overtaken(function: ir.FunctionIR, sides: list[ir.Expr], bound: str | None) -> bool:
    """Whether a bound is asked against what the function itself moves, or what is read anew."""
    others = [side for side in sides if bound not in paths_in(side)]
    if bound is None or len(others) != 1:
        return False
    read = any(type(part) is ir.Call for part in walk(others[0]))
    return read or not moved_paths(function).isdisjoint(paths_in(others[0]))


@functools.lru_cache(maxsize=8192)
def moved_paths(function: ir.FunctionIR) -> frozenset[str]:
    return frozenset(moved_in(function.body))


def moved_in(block: ir.Block) -> Iterator[str]:
    for statement in block:
        if isinstance(statement, ir.Augmented):
            path = path_of(statement.target)
            if path is not None:
                yield path
        for inner in blocks_of(statement):
            yield from moved_in(inner)


def meaning(function: ir.FunctionIR, node: ir.Expr) -> ir.Expr:
    """The distance that a name stands for: ``elapsed = time.time() - began``."""
    if type(node) is ir.Walrus:
        return node.value
    if type(node) is not ir.Name:
        return node
    bound = [
        one.value
        for one in assignments_of(function).values()
        if any(path_of(target) == node.name for target in one.targets)
    ]
    return bound[0] if len(bound) == 1 and type(bound[0]) is ir.Binary else node


def paths_in(node: ir.Expr) -> frozenset[str]:
    return frozenset(path for part in walk(node) if isinstance(part, PARTS) and (path := path_of(part)) is not None)
