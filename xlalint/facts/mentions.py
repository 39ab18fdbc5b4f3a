"""Which names an expression uses, by its text alone."""

from __future__ import annotations

from collections.abc import Iterator

from xlalint.program import ir


def names_in(node: object, skipped: frozenset[str] = frozenset()) -> Iterator[str]:
    """All names in an expression, left to right; calls of methods named in ``skipped`` are left out whole."""
    if isinstance(node, ir.Name):
        yield node.name
    elif isinstance(node, tuple):
        for part in node:
            yield from names_in(part, skipped)
    elif isinstance(node, ir.Node):
        function = node.function if isinstance(node, ir.Call) else None
        if isinstance(function, ir.Attribute) and function.name in skipped:
            return
        for field in node.__struct_fields__:
            yield from names_in(getattr(node, field), skipped)
