"""Engines that call back: ignite's ``Engine(step)`` and ``trainer.run(loader)``, and handlers by event."""

from __future__ import annotations

from xlalint.facts.domain import domain as d
from xlalint.facts.operations import members
from xlalint.facts.state.frame import Frame
from xlalint.program import ir

ENGINE = d.role("engine")
STATE = "state"
"""The detail of ``engine.state``."""
BOUNDED = "sets the boundary"
"""The detail of an engine whose steps end with a boundary before its handlers run."""


def run_engine(
    frame: Frame, engine: d.Role, arguments: list[d.Value], keywords: dict[str, d.Value], node: ir.Call
) -> d.Value:
    """``trainer.run(loader)`` calls the step function for each batch."""
    if type(engine.element) is not d.Sequence or engine.element.elements is None:
        return d.UNKNOWN
    step, _ = engine.element.elements
    loader = arguments[0] if arguments else keywords.get("data", d.UNKNOWN)
    known = type(loader) is d.Role and loader.role == "loader"
    with frame.inside("loop", node.at, "loader", node.at):
        detail = loader.detail if known else None  # type: ignore[attr-defined]
        if detail is not None:
            frame.sign(f"{detail}-loader", node.at)
        if engine.detail == BOUNDED:
            frame.sign("framework", node.at)
        batch = members.element_of(frame, loader) if known else d.role("batch", d.tensor(None, certainty=1))
        run_step(frame, step, batch, node)
    return d.role("engine", engine.element, STATE)


def run_step(frame: Frame, step: d.Value, batch: d.Value, node: ir.Call) -> d.Value:

    return frame.call(step, [ENGINE, batch], {}, node) if type(step) is d.Function else d.UNKNOWN


def output_of(engine: d.Value) -> d.Value:
    """What an engine's process function gives for a batch."""
    known = type(engine) is d.Role and engine.role == "engine" and type(engine.element) is d.Sequence
    return engine.element.elements[1] if known and engine.element.elements else d.UNKNOWN  # type: ignore[attr-defined]


def engine_attribute(engine: d.Role, name: str) -> d.Value:
    """``engine.state``, and what stands there."""
    if name == "state":
        return d.role("engine", engine.element, STATE)
    if engine.detail != STATE:
        return d.bound(engine, name)
    if name in ("iteration", "epoch", "max_epochs", "epoch_length"):
        return d.INT
    return output_of(engine) if name == "output" else d.ANY_HOST if name == "metrics" else d.UNKNOWN


# Handlers
