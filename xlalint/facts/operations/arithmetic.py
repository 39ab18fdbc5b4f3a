"""Arithmetic on abstract values: types, ranks and numbers that operators give."""

from __future__ import annotations

from collections.abc import Callable
from operator import add, floordiv, mod, mul, sub, truediv
from typing import Any

from xlalint.facts.domain.lattice import join_along, join_sequences, join_varies, sequence
from xlalint.facts.domain.row_lengths import through, width_among
from xlalint.facts.domain.values import (
    DECLARED,
    FLOAT,
    HOST,
    INTEGRAL,
    NUMPY,
    STR,
    UNKNOWN,
    XLA,
    Host,
    Sequence,
    Tensor,
    Value,
    host,
    of_rank,
    tensor,
)
from xlalint.facts.domain.variation import is_read_size

FOLDED: dict[str, Callable[[Any, Any], Any]] = {
    "add": add,
    "sub": sub,
    "mul": mul,
    "div": truediv,
    "floordiv": floordiv,
    "mod": mod,
}


NUMBERS = frozenset({"int", "float", "bool"})


def matmul(a: Tensor | None, b: Tensor | None) -> Value:
    result = combined(a, b)
    if a is None or b is None or a.rank is None or b.rank is None:
        return result.but(dims=None)
    rank = max(a.rank, b.rank) if a.rank > 1 and b.rank > 1 else max(a.rank + b.rank - 2, 0)
    return result.but(dims=of_rank(rank))


def combined(
    a: Tensor | None,
    b: Tensor | None,
    dtype: str | None = None,
    division: bool = False,
    other: Value | None = None,
) -> Tensor:
    """The tensor that an elementwise op of two operands gives; one of them may be a number."""
    if a is None or b is None:
        one = a or b
        assert one is not None
        kind = dtype or ("float" if division else promoted_by_number(one.dtype, other))
        dims = one.dims if other is None or keeps_shape(one, other) else None
        along = one.along if dims is not None or other is None or keeps_shape(one, other) else None
        return one.but(dtype=kind, dims=dims, optional=False, grad=one.grad and kind not in INTEGRAL, along=along)
    return tensor(
        common_device(a, b),
        dtype or ("float" if division else promoted(a.dtype, b.dtype)),
        broadcast(a.dims, b.dims),
        a.grad or b.grad,
        join_varies(a.varies, b.varies),
        surest(a, b),
        along=join_along(a, b) if aligned(a, b) else None,
    )


def aligned(a: Tensor, b: Tensor) -> bool:
    """Whether the dimensions of two operands are counted alike."""
    return 0 in (a.rank, b.rank) or (a.rank == b.rank and a.rank is not None) or a.along == b.along


def common_device(a: Tensor, b: Tensor) -> str | None:
    """Operands lie on one device: beside a tensor of the host, what nobody knows lies there, too. A single number of
    the host stands beside tensors of any device."""
    if a.device == b.device or XLA in (a.device, b.device):
        return a.device if a.device == b.device else XLA
    known = a if a.device is not None else b
    return None if known.rank == 0 else known.device


def keeps_shape(one: Tensor, other: Value) -> bool:
    """Beside a number a tensor keeps its shape. What is not known may be a tensor of more dimensions; beside a whole
    number, such as a position or a timestep, it is one more often than not."""
    if type(other) is Host:
        return other.type != "numpy"
    return one.rank == 0 and one.dtype in INTEGRAL


def surest(a: Tensor, b: Tensor) -> int:
    """A guess, and what an annotation says alone, take nothing from what is known of the other operand, and nothing
    of the device can be computed with what lies on the host."""
    if a.device == b.device == HOST:
        return max(a.certainty, b.certainty)
    least = min(a.certainty, b.certainty)
    return max(a.certainty, b.certainty) if least in (0, DECLARED) else least


def promoted_by_number(dtype: str | None, other: Value | None) -> str | None:
    """A bool tensor and a number give a number."""
    if dtype in ("bool", "uint8") and type(other) is Host and other.type in ("int", "float"):
        return "float" if other.type == "float" else "int" if dtype == "bool" else dtype
    if dtype == "int" and type(other) is Host and other.type == "float":
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


def hosts(operator: str, a: Host, b: Host) -> Value:
    varies = through(operator, a, b)
    if operator == "mod" and type(b.constant) is int and 0 < b.constant <= FEW:
        varies = None
    read_from_device = a.read_from_device or b.read_from_device
    if a.known and b.known and a.type in NUMBERS and b.type in NUMBERS and operator in FOLDED:
        try:
            return host(*typed(FOLDED[operator](a.constant, b.constant)), varies, read_from_device)
        except (ArithmeticError, ValueError):
            return FLOAT
    if "str" in (a.type, b.type):
        return STR
    if "?" in (a.type, b.type):
        return host("?", varies=varies, read_from_device=read_from_device)
    if "numpy" in (a.type, b.type):
        return host("numpy", varies=varies) if is_read_size(varies) else NUMPY
    if operator == "div" or "float" in (a.type, b.type):
        return host("float", varies=varies, read_from_device=read_from_device)
    return host("int", varies=varies, read_from_device=read_from_device)


def typed(value: Any) -> tuple[str, Any]:
    return type(value).__name__, value


def sequences(operator: str, left: Value, right: Value) -> Value:
    if type(left) is Sequence and type(right) is Sequence and operator == "add":
        if left.elements is not None and right.elements is not None:
            return sequence(left.kind, left.elements + right.elements)
        return sequence(left.kind, None, join_sequences(left, right).element)
    items, count = (left, right) if type(left) is Sequence else (right, left)
    assert type(items) is Sequence
    if operator != "mul":
        if operator != "add":
            return UNKNOWN
        return sequence(items.kind, None, items.element if filled(items.element) else UNKNOWN)
    if filled(count):
        # ``[pad] * (longest - len(row))``: what the row is filled up with.
        return sequence(items.kind, None, host("int", varies=width_among((count,))))
    if items.elements is not None and type(count) is Host and type(count.constant) is int and 0 < count.constant < 8:
        return sequence(items.kind, items.elements * count.constant)
    return sequence(items.kind, None, items.element)


def filled(value: Value) -> bool:
    """What fills a row up to the longest."""
    return type(value) is Host and width_among((value,)) is not None
