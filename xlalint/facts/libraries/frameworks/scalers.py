"""Gradient scalers: torch's own, those that are made of them, and classes of the program that inherit from them.

A scaler's element is the value of ``enabled``: it costs for sure only where that is known to be true.
"""

from __future__ import annotations

from collections.abc import Iterable

from xlalint.facts.detectors.costly_calls import check_call
from xlalint.facts.detectors.loss import learn_loss
from xlalint.facts.domain.role import Role
from xlalint.facts.domain.values import (
    FALSE,
    NONE,
    READ_NUMBER,
    TRUE,
    UNKNOWN,
    KnownObject,
    Value,
    known_object,
    mapping,
)
from xlalint.facts.kinds import SignKind
from xlalint.facts.state.call import Call
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.tables import frameworks

PLAIN = "torch.amp.GradScaler"
"""The class that the table of costly calls knows all scalers by."""

SCALING = frozenset({"scale", "step", "get_scale"})
"""The methods by which something unknown is taken for a scaler, if it is called one."""


def make_scaler(call: Call) -> Value | None:
    """``GradScaler(enabled=…)``; None where the name is that of no scaler."""
    holds = frameworks().get("scaler", call.name)
    if holds is None:
        return None
    position = int(holds.partition("enabled=")[2] or len(call.arguments))
    given = call.arguments[position] if position < len(call.arguments) else call.keywords.get("enabled")
    return scaler(given or (UNKNOWN if "**" in call.keywords else TRUE))


def scaler(enabled: Value = UNKNOWN) -> KnownObject:
    return known_object(Role.SCALER, enabled, PLAIN)


def inherited_scaler(bases: Iterable[str]) -> KnownObject | None:
    """What an object of the program is that inherits from a scaler: how it was made is not known."""
    return scaler() if any(frameworks().get("scaler", base) is not None for base in bases) else None


def scaler_method(frame: Frame, role: KnownObject, call: Call) -> Value | None:
    if call.name == "scale":
        learn_loss(frame, call.node)
        return call.arguments[0] if call.arguments else UNKNOWN
    if role.element is not FALSE:
        check_call(frame, call.named(f"{PLAIN}.{call.name}"), certainty=2 if role.element is TRUE else 1)
    if call.name == "step":
        frame.sign(SignKind.OPTIMIZER_STEP, call.node.at)
        return NONE
    return READINGS.get(call.name)


def call_scaler(frame: Frame, role: KnownObject, call: Call) -> Value:
    """``loss_scaler(loss, optimizer)``: the backward pass and the update in one."""
    learn_loss(frame, call.node)
    frame.sign(SignKind.BACKWARD, call.node.at)
    scaler_method(frame, role, call.named("step"))
    return UNKNOWN


READINGS: dict[str, Value] = {
    "get_scale": READ_NUMBER,
    "state_dict": mapping((), READ_NUMBER),
}
"""What the methods give that read the host."""
