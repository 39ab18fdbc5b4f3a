"""Engines of ignite that a program makes, by a step function or by one of ignite's factories."""

from __future__ import annotations

from xlalint.facts.domain.lattice import sequence
from xlalint.facts.domain.values import (
    FLOAT,
    NONE,
    UNKNOWN,
    Function,
    KnownObject,
    Mapping,
    Value,
    known_object,
    tensor,
)
from xlalint.facts.libraries.frameworks.ignite import BOUNDED, run_step
from xlalint.facts.libraries.frameworks.ignite_metrics import attach
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.tables import frameworks
from xlalint.program import ir


def make_engine(frame: Frame, name: str, arguments: list[Value], keywords: dict[str, Value], node: ir.Call) -> Value:
    """``Engine(step)``, or one that ignite makes. That it runs at all is assumed; where, ``run`` tells."""
    holds = frameworks().get("engine", name) or ""
    with frame.inside("loop", node.at, "loader", node.at):
        frame.sign("framework", node.at)
        if "sets the boundary" in holds:
            frame.sign("backward", node.at)
        if holds.startswith("1st argument"):
            step = arguments[0] if arguments else keywords.get("process_function", UNKNOWN)
            output = run_step(frame, step, known_object("batch", tensor(None, certainty=1)), node)
        else:
            step, output = UNKNOWN, made_output(frame, name, keywords, node)
    engine = known_object(
        "engine", sequence("tuple", (step, output)), BOUNDED if "sets the boundary" in holds else None
    )
    metrics = keywords.get("metrics", arguments[1] if len(arguments) > 1 else NONE)
    for _, metric in metrics.items if type(metrics) is Mapping else ():
        if type(metric) is KnownObject and metric.role == "attachable":
            attach(frame, metric, [engine], {}, node)
    return engine


def made_output(frame: Frame, name: str, keywords: dict[str, Value], node: ir.Call) -> Value:
    """What an engine that ignite makes gives for a batch: the loss as a number, or predictions and targets."""

    trains = name.endswith("trainer")
    transform = keywords.get("output_transform", NONE)
    if trains:
        frame.boundary(node.at)
    if type(transform) is Function:
        predicted = tensor(dtype="float", certainty=1)
        given: list[Value] = [tensor(certainty=1), tensor(certainty=1), predicted]
        return frame.call(transform, [*given, predicted.but(dims=())] if trains else given, {}, node)
    if transform is not NONE:
        return UNKNOWN
    return FLOAT if trains else sequence("tuple", (tensor(dtype="float", certainty=1), tensor(certainty=1)))
