"""Lengths of rows, and of the longest row of a batch: which numbers hold them, and what they become.

A number that holds the length of one row is marked ``d.ROW``, the largest of several such ``d.LONGEST``. A batch made
that long has another shape in each step. A mark is lost where the number is rounded, or raised to a fixed bound.
"""

from __future__ import annotations

import re

from xlalint.facts import domain as d
from xlalint.program import ir

MARKS = frozenset({d.ROW, d.LONGEST})
LENGTH_NAME = re.compile(r"(^|_)(seq|src|tgt)?(len|lens|length|lengths|seqlen|seqlens)(_|$)|(lens|lengths)$")
FIXED_NAME = re.compile(r"bucket|max|fix|pad_to|limit|block|context")
"""Words that tell a length which does not follow the batch."""
COUNTING = frozenset({"numel", "nelement"})


def named_length(name: str) -> bool:
    name = name.lower()
    return LENGTH_NAME.search(name) is not None and FIXED_NAME.search(name) is None


def is_length(node: ir.Expr) -> bool:
    """Whether an expression, by its spelling, gives the length of one row."""
    kind = type(node)
    if kind is ir.Call:
        return is_length_call(node)  # type: ignore[arg-type]
    if kind is ir.Subscript:
        return is_length_item(node)  # type: ignore[arg-type]
    if kind in (ir.Name, ir.Attribute):
        return named_length(node.name)  # type: ignore[union-attr]
    if kind is ir.Binary and node.operator in ("add", "sub"):  # type: ignore[union-attr]
        return is_length(node.left)  # type: ignore[union-attr]
    return False


def is_length_call(node: ir.Call) -> bool:
    function = node.function
    if type(function) is ir.Name:
        if function.name in ("int", "min"):
            return any(is_length(argument) for argument in node.arguments)
        return function.name == "len"
    if type(function) is not ir.Attribute:
        return False
    if function.name == "size":
        return bool(node.arguments)
    if function.name == "item":
        return is_length(function.value)
    return function.name in COUNTING


def is_length_item(node: ir.Subscript) -> bool:
    index = node.index
    if type(index) is not ir.Constant:
        return False
    if isinstance(index.value, str):
        return named_length(index.value)
    return type(node.value) is ir.Attribute and node.value.name == "shape"


def row_length(value: d.Value, node: ir.Expr) -> d.Value:
    """The element of a comprehension: marked where it is the length of a row."""
    open_ = value is d.UNKNOWN or type(value) is d.Bound or (type(value) is d.Host and may_be_length(value))
    return d.host("int", varies=d.ROW) if open_ and is_length(node) else value


def may_be_length(value: d.Host) -> bool:
    return value.varies is None and not value.known and value.type in ("int", "?")


def is_marked(value: d.Value, mark: d.LoopKey) -> bool:
    return type(value) is d.Host and value.varies == mark


def longest_of(values: d.Value, node: ir.Expr | None) -> d.Value | None:
    """What ``max(values)`` is, where that is the length of the longest row."""
    if type(values) is d.Sequence:
        if is_marked(values.element, d.ROW):
            return d.host("int", varies=d.LONGEST)
        if values.element is not d.UNKNOWN:
            return None
    elif values is not d.UNKNOWN and values is not d.NUMPY and type(values) is not d.Bound:
        return None
    if type(node) in (ir.Name, ir.Attribute) and named_length(node.name):  # type: ignore[union-attr]
        return d.host("int", varies=d.LONGEST)
    return None


def largest_of(name: str, arguments: list[d.Value], nodes: tuple[ir.Expr, ...], in_loop: bool) -> d.Value | None:
    """``min(longest, cap)`` is as long as the batch still; ``max(longest, bound)`` is not, but for small bounds.

    ``longest = max(longest, len(row))`` in a loop finds the longest row.
    """
    if name == "max" and in_loop and len(nodes) == 2 and any(type(n) is ir.Call and is_length(n) for n in nodes):
        return d.host("int", varies=d.LONGEST)
    marks = [v.varies for v in arguments if type(v) is d.Host and v.varies in MARKS]
    if not marks:
        return None
    others = [v for v in arguments if not (type(v) is d.Host and v.varies in MARKS)]
    if name == "min" or all(type(v) is d.Host and v.known for v in others):
        return d.host("int", varies=d.LONGEST if d.LONGEST in marks else d.ROW)
    return d.INT


def through(operator: str, a: d.LoopKey | None, b: d.LoopKey | None) -> d.LoopKey | None:
    """What is left of two numbers' marks after an operator: a sum stays as long, what is rounded does not."""
    if a not in MARKS and b not in MARKS:
        return d.join_varies(a, b)
    kept = [
        a if a not in MARKS or operator in ("add", "sub") else None,
        b if b not in MARKS or operator == "add" else None,
    ]
    loops = [key for key in kept if key is not None and key not in MARKS]
    return min(loops) if loops else d.join_varies(*kept)


def largest_item(node: ir.Expr | None) -> bool:
    """``lengths.max()``, or the most ones that a row of a mask holds: read on the host, it is a batch's longest row."""
    if type(node) is not ir.Call or type(node.function) is not ir.Attribute:
        return False
    if node.function.name not in ("max", "amax"):
        return False
    holder = node.function.value
    if type(holder) is ir.Call and type(holder.function) is ir.Attribute and holder.function.name == "sum":
        summed = holder.function.value
        return type(summed) in (ir.Name, ir.Attribute) and "mask" in summed.name  # type: ignore[union-attr]
    return type(holder) in (ir.Name, ir.Attribute) and named_length(holder.name)  # type: ignore[union-attr]


def longest_rows(element: d.Value) -> bool:
    """Whether the rows of a nested list were filled up to the longest."""
    return type(element) is d.Sequence and (is_marked(element.element, d.LONGEST) or longest_rows(element.element))
