"""Walks over expressions and statements that need no values: their parts, the names they use, the blocks they hold."""

from __future__ import annotations

import functools
from collections.abc import Iterator

from xlalint.program import ir

NOTHING: frozenset[str] = frozenset()


def walk(node: object, skipped: frozenset[str] = NOTHING) -> Iterator[ir.Node]:
    """An expression and all that it is made of, left to right; calls of methods named in ``skipped`` are left out
    whole."""
    pending = [node]
    while pending:
        part = pending.pop()
        if type(part) is tuple:
            pending.extend(part[::-1])
        elif isinstance(part, ir.Node):
            function = part.function if skipped and type(part) is ir.Call else None
            if type(function) is ir.Attribute and function.name in skipped:
                continue
            yield part
            for field in fields_of(type(part)):
                pending.append(getattr(part, field))


@functools.cache
def fields_of(kind: type[ir.Node]) -> tuple[str, ...]:
    """The fields of a kind of node that may hold others, last first."""
    return tuple(field for field in reversed(kind.__struct_fields__) if kind.__annotations__[field] not in PLAIN)


PLAIN = frozenset({"int", "str", "bool", "tuple[str, ...]", "Any"})
"""The types of fields that hold no nodes, as they are written; what may be anything is a constant's value."""


def names_in(node: object, skipped: frozenset[str] = NOTHING) -> Iterator[str]:
    """All names in an expression, left to right; calls of methods named in ``skipped`` are left out whole."""
    return (part.name for part in walk(node, skipped) if type(part) is ir.Name)


def receiver_node(node: ir.Call) -> ir.Expr | None:
    """What a method is called of: ``x`` in ``x.item()``."""
    return node.function.value if type(node.function) is ir.Attribute else None


def calls_in(block: ir.Block) -> Iterator[ir.Call]:
    """The calls that whole statements make."""
    for statement in block:
        value = getattr(statement, "value", None)
        if type(value) is ir.Call:
            yield value
        for inner in blocks_of(statement):
            yield from calls_in(inner)


def blocks_of(statement: ir.Stmt) -> tuple[ir.Block, ...]:
    if isinstance(statement, (ir.If, ir.For, ir.While)):
        return (statement.body, statement.orelse)
    if type(statement) is ir.With:
        return (statement.body,)
    if type(statement) is ir.Try:
        return (statement.body, *(block for _, block in statement.handlers), statement.orelse, statement.final)
    if type(statement) is ir.Match:
        return tuple(block for _, _, block in statement.cases)
    return ()


def statements_in(block: ir.Block) -> Iterator[ir.Stmt]:
    """All statements of a block, and of the blocks in it; those of nested functions are none of it."""
    for statement in block:
        yield statement
        for inner in blocks_of(statement):
            yield from statements_in(inner)


def path_of(node: ir.Expr) -> str | None:
    """The path that an expression reads or binds: ``x``, ``self.x``, and ``x`` of ``(x := …)``."""
    return node.target if type(node) is ir.Walrus else stored_path(node)


def asks_for_any(test: ir.Expr) -> bool | None:
    """The outcome of ``len(x) > 0`` or ``x.numel() != 0`` for which there is anything at all; None where something else
    is asked."""
    if type(test) is not ir.Compare or len(test.operators) != 1 or type(test.left) is not ir.Call:
        return None
    least = test.rights[0]
    if type(least) is not ir.Constant or least.value != 0 or called_name(test.left) not in ("numel", "len"):
        return None
    return {"gt": True, "ne": True, "eq": False}.get(test.operators[0])


def asks_for_type(node: ir.Expr) -> bool:
    """``type(x)``."""
    if type(node) is not ir.Call or type(node.function) is not ir.Name:
        return False
    return node.function.name == "type" and len(node.arguments) == 1


def none_tested(node: ir.Expr) -> tuple[str, bool] | None:
    """The name that ``x is None`` or ``x is not None`` asks about, and the outcome for which it is None."""
    if type(node) is not ir.Compare or len(node.operators) != 1 or type(node.left) is not ir.Name:
        return None
    operator, right = node.operators[0], node.rights[0]
    if operator not in ("is", "is-not") or type(right) is not ir.Constant or right.value is not None:
        return None
    return node.left.name, operator == "is"


def type_names(node: ir.Expr) -> list[str]:
    parts = node.elements if type(node) is ir.Display else (node,)
    return [last_name(part) or "?" for part in parts]


NO_NAMES: frozenset[str] = frozenset()


def decorator_names(function: ir.FunctionIR) -> frozenset[str]:
    if not function.decorators:
        return NO_NAMES
    names = []
    for decorator in function.decorators:
        if type(decorator) is ir.Call:
            decorator = decorator.function
        if isinstance(decorator, (ir.Name, ir.Attribute)):
            names.append(decorator.name)
    return frozenset(names)


def holders(node: ir.Expr) -> Iterator[ir.Expr]:
    """An expression and what it is a part or a call of, down to its start: ``a.b[0].f()``, ``a.b[0].f`` … ``a``."""
    yield node
    while isinstance(node, (ir.Call, ir.Attribute, ir.Subscript)):
        node = node.function if isinstance(node, ir.Call) else node.value
        yield node


def dotted_text(node: ir.Expr) -> str:
    """``args.use_tpu`` as it is written; empty for what is more than names."""
    if isinstance(node, ir.Attribute):
        holder = dotted_text(node.value)
        return f"{holder}.{node.name}" if holder else ""
    return node.name if isinstance(node, ir.Name) else ""


def last_name(node: ir.Expr | None) -> str:
    """``x`` of ``x`` and of ``a.x``; empty for what is no name."""
    return node.name if type(node) is ir.Name or type(node) is ir.Attribute else ""


def called_name(node: ir.Call) -> str:
    """The last name of what is called: ``item`` in ``x.item()``; empty where something computed is called."""
    function = node.function
    return function.name if type(function) is ir.Name or type(function) is ir.Attribute else ""


def plain_callee(node: ir.Call) -> str:
    """The name of a function that is called by its name alone; empty for methods and what is computed."""
    return node.function.name if type(node.function) is ir.Name else ""


def stored_path(value: ir.Expr) -> str | None:
    """``name`` or ``self.name``; None for anything deeper."""
    if type(value) is ir.Name:
        return value.name
    if type(value) is ir.Attribute and type(value.value) is ir.Name and value.value.name == "self":
        return f"self.{value.name}"
    return None
