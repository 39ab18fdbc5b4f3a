"""Binary operators: the value that they give, and the host reads and uploads that they cause."""

from __future__ import annotations

from xlalint.facts.detectors.text_reads import read_by_text
from xlalint.facts.detectors.uploads import check_mixed
from xlalint.facts.domain.lattice import sequence, union
from xlalint.facts.domain.refinement import as_operand
from xlalint.facts.domain.row_lengths import after, is_mark, width_among
from xlalint.facts.domain.values import (
    ANY_HOST,
    INT,
    STR,
    UNKNOWN,
    Host,
    Instance,
    Sequence,
    Struct,
    Tensor,
    Union,
    Value,
    host,
    surely_tensor,
    tensor_of,
)
from xlalint.facts.domain.variation import is_drawn
from xlalint.facts.events import Effect
from xlalint.facts.operations import members
from xlalint.facts.operations.arithmetic import combined, hosts, matmul, sequences
from xlalint.facts.state.frame import Frame
from xlalint.facts.state.recorder import span_of
from xlalint.program import ir


def binary(frame: Frame, operator: str, left: Value, right: Value, node: ir.Expr) -> Value:
    if isinstance(left, OBJECTS) or isinstance(right, OBJECTS):
        answer = by_method(frame, operator, left, right, node)
        if answer is not None:
            return answer
    left, right = as_operand(left), as_operand(right)
    a, b = tensor_of(left), tensor_of(right)
    if a is not None or b is not None:
        result = with_tensor(frame, operator, left, right, a, b, node)
        # A number that may be a tensor gives a number that may be one.
        return result if sure(left, a, right) and sure(right, b, left) else union((result, INT))
    if type(left) is Host and type(right) is Host:
        return hosts(operator, left, right)
    if type(left) is Host and left.type == "str" and operator == "mod":
        return filled_in(frame, right, node)
    if type(left) is Sequence or type(right) is Sequence:
        return sequences(operator, left, right)
    if type(left) is Host and operator in ("add", "sub") and (width := width_among((left,))) is not None:
        return host(left.type, varies=after(operator, width, right), read_from_device=left.read_from_device)
    counted = counted_beside_unknown(operator, left, right)
    if counted is not None:
        return counted
    if ANY_HOST in (left, right):
        return UNKNOWN if UNKNOWN in (left, right) else ANY_HOST
    return STR if type(left) is Host and left.type == "str" else UNKNOWN


def counted_beside_unknown(operator: str, left: Value, right: Value) -> Value | None:
    """``step * size``, ``size // stride * stride``: what a number that changes is counted in is a number, too."""
    if UNKNOWN not in (left, right):
        return None
    for value in (left,) if operator in DIVISIONS else (left, right) if operator in WHOLE else ():
        if type(value) is Host and value.varies is not None and not is_mark(value.varies):
            counts = value.type != "float" if operator in WHOLE else value.type == "int" or is_drawn(value.varies)
            if counts:
                return host("?", varies=value.varies)
    return None


DIVISIONS = frozenset({"div", "floordiv", "mod"})
WHOLE = frozenset({"add", "sub", "mul"})


OBJECTS = (Instance, Struct)
NAMES = {"div": "truediv", "shl": "lshift", "shr": "rshift"}
"""Operators whose methods are named otherwise."""


def by_method(frame: Frame, operator: str, left: Value, right: Value, node: ir.Expr) -> Value | None:
    """``a + b`` of the program's objects: ``__add__`` of the one, or ``__radd__`` of the other."""
    name = NAMES.get(operator, operator)
    if isinstance(left, OBJECTS):
        if type(node) is not ir.Binary and members.has_method(frame, left, f"__i{name}__"):
            return members.call_special_method(frame, left, f"__i{name}__", [right], span_of(node))
        if members.has_method(frame, left, f"__{name}__"):
            return members.call_special_method(frame, left, f"__{name}__", [right], span_of(node))
    if isinstance(right, OBJECTS) and members.has_method(frame, right, f"__r{name}__"):
        return members.call_special_method(frame, right, f"__r{name}__", [left], span_of(node))
    return None


def filled_in(frame: Frame, values: Value, node: ir.Expr) -> Value:
    """``"%s %.3f" % (a, b)``: one event, whatever many tensors it reads."""
    read_by_text(frame, values, span_of(node), "%", getattr(node, "right", None))
    return STR


def sure(value: Value, known: Tensor | None, other: Value) -> bool:
    """Whether an operand that may be a tensor is one, or stands beside one."""
    return known is None or type(value) is not Union or type(other) is Tensor or surely_tensor(value)


def with_tensor(
    frame: Frame,
    operator: str,
    left: Value,
    right: Value,
    a: Tensor | None,
    b: Tensor | None,
    node: ir.Expr,
) -> Value:
    at = span_of(node)
    if type(left) is Host and left.type == "str":
        if operator == "mod" and b is not None and b.live and surely_tensor(right):
            frame.emit(Effect.PRINTED, at, right, "%", getattr(node, "right", None))
        return STR
    if type(left) is Sequence or type(right) is Sequence:
        items = left if type(left) is Sequence else right
        assert type(items) is Sequence
        known = a or b
        if operator == "mul" and known is not None and known.live and type(left if a else right) is Tensor:
            frame.emit(Effect.TENSOR_AS_NUMBER, at, known, "repeat count", node)
        return sequence(items.kind, None, items.element)
    other = right if a is not None else left
    if operator == "pow" and type(other) is Host and other.varies is not None:
        frame.emit(Effect.BAKED_NUMBER, at, other, "exponent", node, varies=other.varies)
    frame.pending()
    check_mixed(frame, a, b, node)
    if operator == "matmul":
        return matmul(a, b)
    return combined(a, b, mask_of(operator, a, b), operator == "div", other)


def mask_of(operator: str, a: Tensor | None, b: Tensor | None) -> str | None:
    """``(x > 0) & other``: what a mask is combined with is a mask, where nothing else is known of it."""
    if operator not in ("and", "or", "xor") or a is None or b is None or None not in (a.dtype, b.dtype):
        return None
    return "bool" if "bool" in (a.dtype, b.dtype) else None
