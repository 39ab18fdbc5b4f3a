"""Slices from where the last turn of a loop ended: ``x[:, before:now]`` with ``before = now`` in each turn."""

from __future__ import annotations

import functools

from xlalint.program import ir
from xlalint.program.traversal import plain_callee, walk


def is_one_turn(function: ir.FunctionIR, item: ir.Slice) -> bool:
    """Whether a slice holds what one turn of a loop adds, which is one but in the first turn."""
    if item.lower is None or item.upper is None or item.step is not None:
        return False
    lower, upper = item.lower, item.upper
    if type(lower) is ir.Binary and type(upper) is ir.Binary and shifts(lower, upper):
        lower, upper = lower.left, upper.left
    if type(lower) is not ir.Name or type(upper) is not ir.Name:
        return False
    return (lower.name, upper.name) in followed(function)


def shifts(lower: ir.Binary, upper: ir.Binary) -> bool:
    """``before + 1`` and ``now + 1``."""
    parts = (lower.right, upper.right)
    same = [part.value for part in parts if type(part) is ir.Constant]
    return lower.operator == upper.operator and len(same) == len(parts) and same[0] == same[1]


@functools.lru_cache(maxsize=8192)
def followed(function: ir.FunctionIR) -> frozenset[tuple[str, str]]:
    """The names that each turn of a loop sets to its counter, with the counter."""
    loops = [node for node in walk(function.body) if type(node) is ir.For and counts_by_one(node)]
    return frozenset(
        (target.name, loop.target.name)
        for loop in loops
        if type(loop.target) is ir.Name
        for statement in loop.body
        if type(statement) is ir.Assign and type(statement.value) is ir.Name
        for target in statement.targets
        if type(target) is ir.Name and statement.value.name == loop.target.name
    )


def counts_by_one(loop: ir.For) -> bool:
    called = loop.iterable
    while type(called) is ir.Call and plain_callee(called) not in ("", "range") and len(called.arguments) == 1:
        called = called.arguments[0]  # ``tqdm(range(n))``
    return type(called) is ir.Call and plain_callee(called) == "range" and len(called.arguments) < 3
