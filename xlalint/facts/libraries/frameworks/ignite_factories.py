"""Engines of ignite that a program makes, by a step function or by one of ignite's factories."""

from __future__ import annotations

from xlalint.facts.domain.lattice import sequence
from xlalint.facts.domain.role import Role
from xlalint.facts.domain.values import (
    FLOAT,
    NONE,
    UNKNOWN,
    Function,
    KnownObject,
    Mapping,
    Value,
    batch_on,
    known_object,
    tensor,
)
from xlalint.facts.kinds import RegionKind, SignKind
from xlalint.facts.libraries.frameworks.ignite import BOUNDED, run_step
from xlalint.facts.libraries.frameworks.ignite_metrics import attach
from xlalint.facts.state.call import Call
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.tables import frameworks


def make_engine(frame: Frame, call: Call) -> Value:
    """``Engine(step)``, or one that ignite makes. That it runs at all is assumed; where, ``run`` tells."""
    holds = frameworks().get("engine", call.name) or ""
    with frame.inside(RegionKind.LOOP, call.node.at, "loader", call.node.at):
        frame.sign(SignKind.FRAMEWORK, call.node.at)
        if "sets the boundary" in holds:
            frame.sign(SignKind.BACKWARD, call.node.at)
        if holds.startswith("1st argument"):
            step = call.arguments[0] if call.arguments else call.keywords.get("process_function", UNKNOWN)
            output = run_step(frame, step, batch_on(None), call.node)
        else:
            step, output = UNKNOWN, made_output(frame, call)
    engine = known_object(
        Role.ENGINE, sequence("tuple", (step, output)), BOUNDED if "sets the boundary" in holds else None
    )
    metrics = call.keywords.get("metrics", call.arguments[1] if len(call.arguments) > 1 else NONE)
    for _, metric in metrics.items if type(metrics) is Mapping else ():
        if type(metric) is KnownObject and metric.role == Role.ATTACHABLE:
            attach(frame, metric, call.given([engine], {}))
    return engine


def made_output(frame: Frame, call: Call) -> Value:
    """What an engine that ignite makes gives for a batch: the loss as a number, or predictions and targets."""
    trains = call.name.endswith("trainer")
    transform = call.keywords.get("output_transform", NONE)
    if trains:
        frame.boundary(call.node.at)
    if type(transform) is Function:
        predicted = tensor(dtype="float", certainty=1)
        given: list[Value] = [tensor(certainty=1), tensor(certainty=1), predicted]
        return frame.call(transform, call.given([*given, predicted.but(dims=())] if trains else given, {}))
    if transform is not NONE:
        return UNKNOWN
    return FLOAT if trains else sequence("tuple", (tensor(dtype="float", certainty=1), tensor(certainty=1)))
