"""What an expression is made of, by its text alone: its parts, the names that it uses, whom it calls a method of."""

from __future__ import annotations

from collections.abc import Iterator

from xlalint.program import ir

NOTHING: frozenset[str] = frozenset()


def walk(node: object, skipped: frozenset[str] = NOTHING) -> Iterator[ir.Node]:
    """An expression and all that it is made of, left to right; calls of methods named in ``skipped`` are left out
    whole."""
    if isinstance(node, tuple):
        for part in node:
            yield from walk(part, skipped)
    elif isinstance(node, ir.Node):
        function = node.function if isinstance(node, ir.Call) else None
        if isinstance(function, ir.Attribute) and function.name in skipped:
            return
        yield node
        for field in node.__struct_fields__:
            yield from walk(getattr(node, field), skipped)


def names_in(node: object, skipped: frozenset[str] = NOTHING) -> Iterator[str]:
    """All names in an expression, left to right; calls of methods named in ``skipped`` are left out whole."""
    return (part.name for part in walk(node, skipped) if type(part) is ir.Name)


def receiver_node(node: ir.Call) -> ir.Expr | None:
    """What a method is called of: ``x`` in ``x.item()``."""
    return node.function.value if type(node.function) is ir.Attribute else None
