"""Row lengths, and the length of a batch's longest row: which numbers hold them, and how arithmetic carries them on.

A number that holds the length of one row is marked ``d.ROW``, the largest of several such ``d.LONGEST``. A batch made
that long has another shape in each step. A mark is lost where the number is raised to a fixed bound, or rounded; but
``d.ROUNDED`` is left where it is known to how many lengths.

The last part of a mark says how many lengths there may be, where that is known. It is counted down from ``WHOLE``, so
that of two marks the wider one is the smaller: that is the one that a join keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache

from xlalint.facts.domain.lattice import join_varies
from xlalint.facts.domain.values import (
    INT,
    LONGEST,
    NUMPY,
    ROUNDED,
    ROW,
    SHORTEST,
    UNKNOWN,
    Bound,
    Host,
    LoopKey,
    Sequence,
    Value,
    host,
)
from xlalint.program import ir
from xlalint.program.traversal import called_name, names_in, walk
from xlalint.sources.patterns import lazy_pattern

MARKS = frozenset({ROW[1], LONGEST[1], SHORTEST[1], ROUNDED[1]})
WIDTHS = frozenset({LONGEST[1], SHORTEST[1], ROUNDED[1]})
"""The marks of what makes a batch as wide as it is."""
WHOLE = 1 << 30
LENGTH_NAME = lazy_pattern(r"(^|_)(seq|src|tgt)?(len|lens|length|lengths|seqlen|seqlens)(_|$)|(lens|lengths)$")
FIXED_NAME = lazy_pattern(r"bucket|max|fix|pad_to|limit|block|context")
"""Words that tell a length which does not follow the batch."""
COUNTING = frozenset({"numel", "nelement"})


def named_length(name: str) -> bool:
    name = name.lower()
    return LENGTH_NAME.search(name) is not None and FIXED_NAME.search(name) is None


def is_length(node: ir.Expr) -> bool:
    """Whether an expression, by its spelling, gives the length of one row."""
    if isinstance(node, ir.Call):
        return is_length_call(node)
    if isinstance(node, ir.Subscript):
        return is_length_item(node)
    if isinstance(node, (ir.Name, ir.Attribute)):
        return named_length(node.name)
    return isinstance(node, ir.Binary) and node.operator in ("add", "sub") and is_length(node.left)


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


def row_length(value: Value, node: ir.Expr, evaluate: Callable[[ir.Expr], Value]) -> Value:
    """The element of a comprehension: marked where it is the length of a row."""
    open_ = value is UNKNOWN or type(value) is Bound or (type(value) is Host and may_be_length(value))
    if not open_ or not is_length(node):
        return value
    parts = node.arguments if type(node) is ir.Call and getattr(node.function, "name", "") == "min" else ()
    caps = [number_of(evaluate(part)) for part in parts if type(part) in (ir.Constant, ir.Name, ir.Attribute)]
    return host("int", varies=bounded(ROW, min((cap for cap in caps if cap is not None), default=None)))


def may_be_length(value: Host) -> bool:
    return value.varies is None and not value.known and value.type in ("int", "?")


def is_mark(key: LoopKey | None) -> bool:
    return key is not None and not key[0] and key[1] in MARKS


def is_marked(value: Value, mark: LoopKey) -> bool:
    return type(value) is Host and value.varies is not None and value.varies[:2] == mark[:2]


def bounded(mark: LoopKey, most: int | None) -> LoopKey:
    """The mark of at most so many lengths, or of as many as nobody knows."""
    return (*mark[:2], WHOLE - most if most is not None and 0 < most < WHOLE else 0)


def most_of(mark: LoopKey) -> int | None:
    """How many lengths there may be, at most."""
    return WHOLE - mark[2] if mark[2] else None


def number_of(value: Value) -> int | None:
    return value.constant if type(value) is Host and type(value.constant) is int else None


def width_among(values: Iterable[Value]) -> LoopKey | None:
    """The mark of a size, or of a part of one, that is the length of a batch's longest row."""
    found = None
    for value in values:
        if type(value) is Host and value.varies is not None and is_mark(value.varies) and value.varies[1] in WIDTHS:
            found = join_varies(found, value.varies)
        elif type(value) is Sequence:
            found = join_varies(found, width_among(value.elements or (value.element,)))
    return found


def longest_of(values: Value, node: ir.Expr | None) -> Value | None:
    """What ``max(values)`` is, where that is the length of the longest row."""
    if type(values) is Sequence:
        row = values.element
        if type(row) is Host and row.varies is not None and is_marked(row, ROW):
            return host("int", varies=bounded(LONGEST, most_of(row.varies)))
        if values.element is not UNKNOWN:
            return None
    elif values is not UNKNOWN and values is not NUMPY and type(values) is not Bound:
        return None
    if isinstance(node, (ir.Name, ir.Attribute)) and named_length(node.name):
        return host("int", varies=LONGEST)
    return None


def shortest_of(values: Value) -> Value | None:
    """What ``min(values)`` is, where that is the length of the shortest row."""
    row = values.element if type(values) is Sequence else None
    return host("int", varies=SHORTEST) if row is not None and is_marked(row, ROW) else None


@lru_cache(maxsize=1024)
def running_minima(body: ir.Block) -> frozenset[int]:
    """The places of ``shortest = min(shortest, len(row))``."""
    return frozenset(
        part.value.at
        for part in walk(body)
        if type(part) is ir.Assign
        and type(part.value) is ir.Call
        and called_name(part.value) == "min"
        and any(type(argument) is ir.Call and is_length(argument) for argument in part.value.arguments)
        and not {target.name for target in part.targets if type(target) is ir.Name}.isdisjoint(names_in(part.value))
    )


def largest_of(name: str, arguments: list[Value], nodes: tuple[ir.Expr, ...], in_loop: bool) -> Value | None:
    """``min(longest, cap)`` is as long as the batch still; ``max(longest, bound)`` is not, but for small bounds.

    ``longest = max(longest, len(row))`` in a loop finds the longest row.
    """
    if name == "max" and in_loop and len(nodes) == 2 and any(type(n) is ir.Call and is_length(n) for n in nodes):
        return host("int", varies=LONGEST)
    marks = [v.varies for v in arguments if type(v) is Host and v.varies is not None and is_mark(v.varies)]
    if not marks:
        return None
    others = [v for v in arguments if not (type(v) is Host and is_mark(v.varies))]
    mark = min(marks)
    bounds = [number_of(v) for v in others]
    if name == "min":
        known = [most for most in (most_of(mark), *bounds) if most is not None]
        return host("int", varies=mark if mark[1] == ROUNDED[1] else bounded(mark, min(known, default=None)))
    raised = any(most is not None and most >= (most_of(mark) or WHOLE) for most in bounds)
    return host("int", varies=mark) if not raised and all(type(v) is Host and v.known for v in others) else INT


def through(operator: str, left: Host, right: Host) -> LoopKey | None:
    """What is left of two numbers' marks after an operator: a sum stays as long, what is rounded does not."""
    a, b = left.varies, right.varies
    if not is_mark(a) and not is_mark(b):
        return faster(a, b)
    kept = [
        after(operator, a, right) if not is_mark(a) or operator in ("add", "sub") else None,
        after(operator, b, left) if not is_mark(b) or operator == "add" else None,
    ]
    loops = [key for key in kept if key is not None and not is_mark(key)]
    return faster(*loops, *[None] * (2 - len(loops))) if loops else join_varies(*kept)


def faster(a: LoopKey | None, b: LoopKey | None) -> LoopKey | None:
    """Of two loops that change a number, the one that does so more often: in one function, the inner one, whose line
    is the later. ``epoch * len(loader) + step`` is another number in each step."""
    return max(a, b) if a is not None and b is not None and a[:2] == b[:2] else join_varies(a, b)


def after(operator: str, mark: LoopKey | None, other: Value) -> LoopKey | None:
    """The mark of a length to which something has been added, or from which it was taken away: a constant makes no
    more lengths of them."""
    if mark is None or not is_mark(mark) or operator == "sub" or number_of(other) is not None:
        return mark
    return bounded(mark, None) if mark[1] != ROUNDED[1] else None


def largest_item(node: ir.Expr | None) -> bool:
    """``lengths.max()``, or the most ones that a row of a mask holds: read on the host, it is a batch's longest row."""
    if type(node) is not ir.Call or type(node.function) is not ir.Attribute:
        return False
    if node.function.name not in ("max", "amax"):
        return False
    holder = node.function.value
    if type(holder) is ir.Call and type(holder.function) is ir.Attribute and holder.function.name == "sum":
        summed = holder.function.value
        return isinstance(summed, (ir.Name, ir.Attribute)) and "mask" in summed.name
    return isinstance(holder, (ir.Name, ir.Attribute)) and named_length(holder.name)


def longest_rows(element: Value) -> LoopKey | None:
    """The mark of a nested list whose rows were filled up to the longest."""
    if type(element) is not Sequence:
        return None
    return width_among((element.element,)) if type(element.element) is Host else longest_rows(element.element)
