"""Moves to a device, by the text of a loop: who moves a part of each batch is given batches that lie on the host."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from xlalint.program import ir
from xlalint.program.def_use import unpacked
from xlalint.program.traversal import called_name, last_name, statements_in, walk

WRAPPERS = frozenset({"Variable", "zip", "enumerate", "list", "tuple"})
ENTRIES = frozenset({"items", "values", "get", "pop"})
"""Methods that give parts of a batch."""


@lru_cache(maxsize=8192)
def moves_part(loop: ir.For) -> bool:
    """Whether a loop moves what it iterates, or a part of that: ``x = x.cuda()``, ``batch["x"].to(device)``."""
    parts = set(names_of(loop.target))
    for statement in statements_in(loop.body):
        if any(type(part) is ir.Call and moves(part, parts) for part in walk(statement)):
            return True
        for target, value in taken_from(statement):
            if belongs_to(value, parts):
                parts.update(names_of(target))
    return False


def names_of(target: ir.Expr) -> Iterator[str]:
    return (part.name for part in unpacked(target) if type(part) is ir.Name)


def taken_from(statement: ir.Stmt) -> Iterator[tuple[ir.Expr, ir.Expr]]:
    if type(statement) is ir.Assign:
        yield from ((target, statement.value) for target in statement.targets)
    elif type(statement) is ir.For:
        yield statement.target, statement.iterable


def belongs_to(node: ir.Expr, parts: set[str]) -> bool:
    """``data``, ``data[0]``, ``data["x"]``, ``batch.text``, ``Variable(x)``, ``zip(x, y)``."""
    if type(node) is ir.Name:
        return node.name in parts
    if isinstance(node, (ir.Subscript, ir.Attribute)):
        return belongs_to(node.value, parts)
    if type(node) is ir.Display:
        return any(belongs_to(element, parts) for element in node.elements)
    if type(node) is not ir.Call:
        return False
    if type(node.function) is ir.Attribute:
        return node.function.name in ENTRIES and belongs_to(node.function.value, parts)
    return called_name(node) in WRAPPERS and any(belongs_to(argument, parts) for argument in node.arguments)


def moves(call: ir.Call, parts: set[str]) -> bool:
    if type(call.function) is not ir.Attribute or not belongs_to(call.function.value, parts):
        return False
    if call.function.name != "to":
        return call.function.name == "cuda"
    given = [*call.arguments[:1], *(value for name, value in call.keywords if name == "device")]
    return any(map(names_device, given))


def names_device(node: ir.Expr) -> bool:
    """``device``, ``self.device``, ``"cuda:0"``, ``torch.device("xla")``."""
    if type(node) is ir.Constant:
        return isinstance(node.value, str) and not node.value.startswith("cpu")
    name = called_name(node) if type(node) is ir.Call else last_name(node)
    return name.lower().endswith(("device", "dev"))
