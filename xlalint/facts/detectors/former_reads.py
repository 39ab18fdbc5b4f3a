"""Reads as programs wrote them before torch 0.4: ``loss.data[0]`` was what ``loss.item()`` is today."""

from __future__ import annotations

from xlalint.facts.domain.values import READ_NUMBER, Tensor, Value
from xlalint.facts.events import Effect
from xlalint.facts.state.frame import Frame
from xlalint.program import ir


def former_read(frame: Frame, value: Tensor, node: ir.Subscript) -> Value | None:
    """The number that the index of a tensor without dimensions, or of a loss, gave; None where it is an index."""
    index, held = node.index, node.value
    if type(index) is not ir.Constant or index.value != 0 or type(held) is not ir.Attribute or held.name != "data":
        return None
    if value.rank != 0 and not is_loss(frame, held.value):
        return None
    if value.live:
        frame.emit(Effect.SCALAR_READ, node.at, value, "[0]", held)
    return READ_NUMBER


def is_loss(frame: Frame, node: ir.Expr) -> bool:
    return type(node) is ir.Name and "backward" in frame.function.uses.get(node.name, ())
