"""Arithmetic: what two values give."""

from __future__ import annotations

from xlalint.facts.detectors.text_reads import read_by_text
from xlalint.facts.detectors.uploads import check_mixed
from xlalint.facts.domain import domain as d
from xlalint.facts.domain.row_lengths import after, width_among
from xlalint.facts.events import Effect
from xlalint.facts.operations.arithmetic import combined, hosts, matmul, sequences
from xlalint.facts.state.frame import Frame, span_of
from xlalint.program import ir


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
