"""Engines that call back: ignite's ``Engine(step)`` and ``trainer.run(loader)``, and handlers by event."""

from __future__ import annotations

from xlalint.facts.domain.role import Role
from xlalint.facts.domain.values import (
    ANY_HOST,
    INT,
    UNKNOWN,
    Function,
    KnownObject,
    Sequence,
    Value,
    batch_on,
    bound_method,
    known_object,
)
from xlalint.facts.kinds import RegionKind, SignKind
from xlalint.facts.operations import members
from xlalint.facts.state.call import Call
from xlalint.facts.state.frame import Frame
from xlalint.program import ir

ENGINE = known_object(Role.ENGINE)
STATE = "state"
"""The detail of ``engine.state``."""
BOUNDED = "sets the boundary"
"""The detail of an engine whose steps end with a boundary before its handlers run."""


def run_engine(frame: Frame, engine: KnownObject, call: Call) -> Value:
    """``trainer.run(loader)`` calls the step function for each batch."""
    if type(engine.element) is not Sequence or engine.element.elements is None:
        return UNKNOWN
    step, _ = engine.element.elements
    loader = call.arguments[0] if call.arguments else call.keywords.get("data", UNKNOWN)
    known = loader if type(loader) is KnownObject and loader.role == Role.LOADER else None
    with frame.inside(RegionKind.LOOP, call.node.at, "loader", call.node.at):
        if known is not None and known.detail is not None:
            frame.sign(SignKind(f"{known.detail}-loader"), call.node.at)
        if engine.detail == BOUNDED:
            frame.sign(SignKind.FRAMEWORK, call.node.at)
        batch = members.element_of(frame, known) if known is not None else batch_on(None)
        run_step(frame, step, batch, call.node)
    return known_object(Role.ENGINE, engine.element, STATE)


def run_step(frame: Frame, step: Value, batch: Value, node: ir.Call) -> Value:

    return frame.call(step, Call("", [ENGINE, batch], {}, node)) if type(step) is Function else UNKNOWN


def output_of(engine: Value) -> Value:
    """What an engine's process function gives for a batch."""
    if type(engine) is not KnownObject or engine.role != Role.ENGINE or type(engine.element) is not Sequence:
        return UNKNOWN
    return engine.element.elements[1] if engine.element.elements else UNKNOWN


def engine_attribute(engine: KnownObject, name: str) -> Value:
    """``engine.state``, and what stands there."""
    if name == "state":
        return known_object(Role.ENGINE, engine.element, STATE)
    if engine.detail != STATE:
        return bound_method(engine, name)
    if name in ("iteration", "epoch", "max_epochs", "epoch_length"):
        return INT
    return output_of(engine) if name == "output" else ANY_HOST if name == "metrics" else UNKNOWN


# Handlers
