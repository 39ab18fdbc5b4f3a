"""Arithmetic: what two values give."""

from __future__ import annotations

from collections.abc import Callable
from operator import add, floordiv, mod, mul, sub, truediv
from typing import Any

from xlalint.facts import domain as d
from xlalint.facts.events import Effect
from xlalint.facts.frame import Frame, span_of
from xlalint.facts.lengths import after, through, width_among
from xlalint.facts.textual import read_by_text
from xlalint.facts.uploads import check_mixed
from xlalint.program import ir

FOLDED: dict[str, Callable[[Any, Any], Any]] = {
    "add": add,
    "sub": sub,
    "mul": mul,
    "div": truediv,
    "floordiv": floordiv,
    "mod": mod,
}
NUMBERS = frozenset({"int", "float", "bool"})


def binary(frame: Frame, operator: str, left: d.Value, right: d.Value, node: ir.Expr) -> d.Value:
    left, right = d.as_operand(left), d.as_operand(right)
    a, b = d.tensor_of(left), d.tensor_of(right)
    if a is not None or b is not None:
        result = with_tensor(frame, operator, left, right, a, b, node)
        # A number that may be a tensor gives a number that may be one.
        return result if sure(left, a, right) and sure(right, b, left) else d.union((result, d.INT))
    if type(left) is d.Host and type(right) is d.Host:
        return hosts(operator, left, right)
    if type(left) is d.Host and left.type == "str" and operator == "mod":
        return filled_in(frame, right, node)
    if type(left) is d.Sequence or type(right) is d.Sequence:
        return sequences(operator, left, right)
    if type(left) is d.Host and operator in ("add", "sub") and (width := width_among((left,))) is not None:
        return d.host(left.type, varies=after(operator, width, right), paid=left.paid)
    if d.ANY_HOST in (left, right):
        return d.UNKNOWN if d.UNKNOWN in (left, right) else d.ANY_HOST
    return d.STR if type(left) is d.Host and left.type == "str" else d.UNKNOWN


def filled_in(frame: Frame, values: d.Value, node: ir.Expr) -> d.Value:
    """``"%s %.3f" % (a, b)``: one event, whatever many tensors it reads."""
    read_by_text(frame, values, span_of(node), "%", getattr(node, "right", None))
    return d.STR


def sure(value: d.Value, known: d.Tensor | None, other: d.Value) -> bool:
    """Whether an operand that may be a tensor is one, or stands beside one."""
    return known is None or type(value) is not d.Union or type(other) is d.Tensor or d.surely_tensor(value)


def with_tensor(
    frame: Frame,
    operator: str,
    left: d.Value,
    right: d.Value,
    a: d.Tensor | None,
    b: d.Tensor | None,
    node: ir.Expr,
) -> d.Value:
    at = span_of(node)
    if type(left) is d.Host and left.type == "str":
        if operator == "mod" and b is not None and b.live and d.surely_tensor(right):
            frame.emit(Effect.PRINTED, at, right, "%", getattr(node, "right", None))
        return d.STR
    if type(left) is d.Sequence or type(right) is d.Sequence:
        items = left if type(left) is d.Sequence else right
        assert type(items) is d.Sequence
        known = a or b
        if operator == "mul" and known is not None and known.live and type(left if a else right) is d.Tensor:
            frame.emit(Effect.TENSOR_AS_NUMBER, at, known, "repeat count", node)
        return d.sequence(items.kind, None, items.element)
    other = right if a is not None else left
    if operator == "pow" and type(other) is d.Host and other.varies is not None:
        frame.emit(Effect.BAKED_NUMBER, at, other, "exponent", node, varies=other.varies)
    frame.pending()
    check_mixed(frame, a, b, node)
    if operator == "matmul":
        return matmul(a, b)
    return combined(a, b, None, operator == "div", other)


def matmul(a: d.Tensor | None, b: d.Tensor | None) -> d.Value:
    result = combined(a, b)
    if a is None or b is None or a.rank is None or b.rank is None:
        return result.but(dims=None)
    rank = max(a.rank, b.rank) if a.rank > 1 and b.rank > 1 else max(a.rank + b.rank - 2, 0)
    return result.but(dims=d.of_rank(rank))


def combined(
    a: d.Tensor | None,
    b: d.Tensor | None,
    dtype: str | None = None,
    division: bool = False,
    other: d.Value | None = None,
) -> d.Tensor:
    """The tensor that an elementwise op of two operands gives; one of them may be a number."""
    if a is None or b is None:
        one = a or b
        assert one is not None
        kind = dtype or ("float" if division else promoted_by_number(one.dtype, other))
        return one.but(dtype=kind, optional=False, grad=one.grad and kind not in d.INTEGRAL)
    device = d.XLA if d.XLA in (a.device, b.device) else a.device if a.device == b.device else None
    return d.tensor(
        device,
        dtype or ("float" if division else promoted(a.dtype, b.dtype)),
        broadcast(a.dims, b.dims),
        a.grad or b.grad,
        d.join_varies(a.varies, b.varies),
        # A guess takes nothing from what is known of the other operand.
        min(a.certainty, b.certainty) or max(a.certainty, b.certainty),
    )


def promoted_by_number(dtype: str | None, other: d.Value | None) -> str | None:
    """A bool tensor and a number give a number."""
    if dtype in ("bool", "uint8") and type(other) is d.Host and other.type in ("int", "float"):
        return "float" if other.type == "float" else "int" if dtype == "bool" else dtype
    if dtype == "int" and type(other) is d.Host and other.type == "float":
        return "float"
    return dtype


def promoted(a: str | None, b: str | None) -> str | None:
    if a == b:
        return a
    if "float" in (a, b):
        return "float"
    if a is not None and b is not None:
        return "int" if {a, b} <= {"bool", "int", "uint8"} else "other"
    known = a or b
    return "other" if known in ("int", "other") else None


def broadcast(a: tuple[int | None, ...] | None, b: tuple[int | None, ...] | None) -> tuple[int | None, ...] | None:
    if a is None or b is None:
        return None
    if len(a) < len(b):
        a, b = b, a
    padded = (1,) * (len(a) - len(b)) + b
    return tuple(y if x == 1 else x if y == 1 or x == y else None for x, y in zip(a, padded, strict=False))


FEW = 64
"""Values of ``i % k``: so few graphs are compiled early, and then kept."""


def hosts(operator: str, a: d.Host, b: d.Host) -> d.Value:
    varies = through(operator, a, b)
    if operator == "mod" and type(b.constant) is int and 0 < b.constant <= FEW:
        varies = None
    paid = a.paid or b.paid
    if a.known and b.known and a.type in NUMBERS and b.type in NUMBERS and operator in FOLDED:
        try:
            return d.host(*typed(FOLDED[operator](a.constant, b.constant)), varies, paid)
        except (ArithmeticError, ValueError):
            return d.FLOAT
    if "str" in (a.type, b.type):
        return d.STR
    if "?" in (a.type, b.type):
        return d.host("?", varies=varies, paid=paid)
    if "numpy" in (a.type, b.type):
        return d.NUMPY
    if operator == "div" or "float" in (a.type, b.type):
        return d.host("float", varies=varies, paid=paid)
    return d.host("int", varies=varies, paid=paid)


def typed(value: Any) -> tuple[str, Any]:
    return type(value).__name__, value


def sequences(operator: str, left: d.Value, right: d.Value) -> d.Value:
    if type(left) is d.Sequence and type(right) is d.Sequence and operator == "add":
        if left.elements is not None and right.elements is not None:
            return d.sequence(left.kind, left.elements + right.elements)
        return d.sequence(left.kind, None, d.join_sequences(left, right).element)
    items, count = (left, right) if type(left) is d.Sequence else (right, left)
    assert type(items) is d.Sequence
    if operator != "mul":
        if operator != "add":
            return d.UNKNOWN
        return d.sequence(items.kind, None, items.element if filled(items.element) else d.UNKNOWN)
    if filled(count):
        # ``[pad] * (longest - len(row))``: what the row is filled up with.
        return d.sequence(items.kind, None, d.host("int", varies=width_among((count,))))
    if items.elements is not None and type(count) is d.Host and type(count.constant) is int and 0 < count.constant < 8:
        return d.sequence(items.kind, items.elements * count.constant)
    return d.sequence(items.kind, None, items.element)


def filled(value: d.Value) -> bool:
    """What fills a row up to the longest."""
    return type(value) is d.Host and width_among((value,)) is not None
