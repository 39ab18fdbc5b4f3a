"""Losses: the start of a backward pass is a device tensor, whatever made it."""

from __future__ import annotations

from xlalint.facts.domain.known_names import DRIVER_USES, MODEL_USES
from xlalint.facts.domain.values import UNKNOWN, Value, is_guess, tensor
from xlalint.facts.state.frame import Frame
from xlalint.program import ir

LOSS = tensor(dtype="float", certainty=1)
OTHERS = MODEL_USES | DRIVER_USES | {"()", "step"}
"""What is done to a model, an optimizer or an engine, which may have a ``backward`` of their own."""


def as_used(frame: Frame, name: str, value: Value) -> Value:
    """What a name is bound to. Where nothing is known of it and ``loss.backward()`` stands somewhere in the function,
    it is a loss."""
    if value is not UNKNOWN and not is_guess(value):
        return value
    uses = frame.function.uses.get(name)
    return LOSS if uses is not None and "backward" in uses and uses.isdisjoint(OTHERS) else value


def learn_loss(frame: Frame, node: ir.Call) -> None:
    """``accelerator.backward(loss)``, ``scaler.scale(loss)``: from here on, ``loss`` is one."""
    given = node.arguments[0] if node.arguments else None
    if type(given) is not ir.Name:
        return
    value = frame.env.get(given.name)
    if value is not None and (value is UNKNOWN or is_guess(value)):
        frame.env[given.name] = LOSS
