"""Engines of ignite that a program makes, by a step function or by one of ignite's factories."""

from __future__ import annotations

from xlalint.facts.domain import domain as d
from xlalint.facts.libraries.frameworks.ignite import BOUNDED, run_step
from xlalint.facts.libraries.frameworks.ignite_metrics import attach
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.tables import frameworks
from xlalint.program import ir


def make_engine(
    frame: Frame, name: str, arguments: list[d.Value], keywords: dict[str, d.Value], node: ir.Call
) -> d.Value:
    """``Engine(step)``, or one that ignite makes. That it runs at all is assumed; where, ``run`` tells."""
    holds = frameworks().get("engine", name) or ""
    with frame.inside("loop", node.at, "loader", node.at):
        frame.sign("framework", node.at)
        if "sets the boundary" in holds:
            frame.sign("backward", node.at)
        if holds.startswith("1st argument"):
            step = arguments[0] if arguments else keywords.get("process_function", d.UNKNOWN)
            output = run_step(frame, step, d.role("batch", d.tensor(None, certainty=1)), node)
        else:
            step, output = d.UNKNOWN, made_output(frame, name, keywords, node)
    engine = d.role("engine", d.sequence("tuple", (step, output)), BOUNDED if "sets the boundary" in holds else None)
    metrics = keywords.get("metrics", arguments[1] if len(arguments) > 1 else d.NONE)
    for _, metric in metrics.items if type(metrics) is d.Mapping else ():
        if type(metric) is d.Role and metric.role == "attachable":
            attach(frame, metric, [engine], {}, node)
    return engine


def made_output(frame: Frame, name: str, keywords: dict[str, d.Value], node: ir.Call) -> d.Value:
    """What an engine that ignite makes gives for a batch: the loss as a number, or predictions and targets."""

    trains = name.endswith("trainer")
    transform = keywords.get("output_transform", d.NONE)
    if trains:
        frame.boundary(node.at)
    if type(transform) is d.Function:
        predicted = d.tensor(dtype="float", certainty=1)
        given: list[d.Value] = [d.tensor(certainty=1), d.tensor(certainty=1), predicted]
        return frame.call(transform, [*given, predicted.but(dims=())] if trains else given, {}, node)
    if transform is not d.NONE:
        return d.UNKNOWN
    return d.FLOAT if trains else d.sequence("tuple", (d.tensor(dtype="float", certainty=1), d.tensor(certainty=1)))
