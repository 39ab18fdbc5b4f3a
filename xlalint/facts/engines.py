"""Engines that call back: ignite's ``Engine(step)`` and ``trainer.run(loader)``, and handlers by event."""

from __future__ import annotations

from xlalint.facts import domain as d
from xlalint.facts import objects
from xlalint.facts.frame import Frame
from xlalint.knowledge.tables import frameworks
from xlalint.program import ir

ENGINE = d.role("engine")
EVENTS = "Events"
STATE = "state"
"""The detail of ``engine.state``."""
BOUNDED = "sets the boundary"
"""The detail of an engine whose steps end with a boundary before its handlers run."""
PACES = ("once", "epoch", "amortised", "step")
"""How often a handler runs, the seldom first."""


def make_engine(
    frame: Frame, name: str, arguments: list[d.Value], keywords: dict[str, d.Value], node: ir.Call
) -> d.Value:
    """``Engine(step)``, or one that ignite makes. That it runs at all is assumed; where, ``run`` tells."""
    from xlalint.facts.engine_metrics import attach

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
    from xlalint.facts.calls import call

    trains = name.endswith("trainer")
    transform = keywords.get("output_transform", d.NONE)
    if trains:
        frame.boundary(node.at)
    if type(transform) is d.Function:
        predicted = d.tensor(dtype="float", certainty=1)
        given: list[d.Value] = [d.tensor(certainty=1), d.tensor(certainty=1), predicted]
        return call(frame, transform, [*given, predicted.but(dims=())] if trains else given, {}, node)
    if transform is not d.NONE:
        return d.UNKNOWN
    return d.FLOAT if trains else d.sequence("tuple", (d.tensor(dtype="float", certainty=1), d.tensor(certainty=1)))


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
        batch = objects.element_of(frame, loader) if known else d.role("batch", d.tensor(None, certainty=1))
        run_step(frame, step, batch, node)
    return d.role("engine", engine.element, STATE)


def run_step(frame: Frame, step: d.Value, batch: d.Value, node: ir.Call) -> d.Value:
    from xlalint.facts.calls import call

    return call(frame, step, [ENGINE, batch], {}, node) if type(step) is d.Function else d.UNKNOWN


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


HOOKING = ("on", "add_event_handler", "attach")


def is_hook(node: ir.Expr) -> bool:
    """``trainer.on(Events.EPOCH_COMPLETED)``, ``trainer.add_event_handler(Events.COMPLETED, f)``,
    ``logger.attach(trainer, log_handler=f, event_name=Events.EPOCH_COMPLETED)``."""
    if type(node) is not ir.Call or type(node.function) is not ir.Attribute:
        return False
    return node.function.name in HOOKING and event_of(node) is not None


def event_of(node: ir.Call) -> ir.Expr | None:
    named = [value for key, value in node.keywords if key == "event_name"]
    first = named[0] if named else node.arguments[0] if node.arguments else None
    return first if first is not None and pace_of(first) is not None else None


def pace_of(event: ir.Expr) -> str | None:
    """How often an event fires; None where this is none of ignite's."""
    if type(event) is ir.Binary and event.operator == "or":
        found = [pace for part in (event.left, event.right) if (pace := pace_of(part)) is not None]
        return max(found, key=PACES.index, default=None)
    if type(event) is ir.Call:
        pace = pace_of(event.function)
        names = {key for key, _ in event.keywords}
        if pace is not None and "once" in names:
            return "once"
        return "amortised" if pace == "step" and names & {"every", "event_filter"} else pace
    if type(event) is ir.Attribute and type(event.value) is ir.Name and event.value.name == EVENTS:
        return frameworks().get("event", event.name) or "once"
    return None


def hook(frame: Frame, event: ir.Call, handler: d.Value, rest: list[d.Value]) -> None:
    """Call a handler as often as its event fires."""
    from xlalint.facts.calls import call

    first = event_of(event)
    pace = pace_of(first) if first is not None else None
    if pace is None or type(handler) is not d.Function:
        return
    engine = engine_of(frame, event)
    arguments = [engine, *rest] if takes_engine(handler, len(rest)) else rest
    at = event.at
    if pace in ("step", "amortised"):
        with frame.inside("loop", at, "loader", at):
            frame.sign("framework", at)
            if engine.detail == BOUNDED:
                frame.boundary(at)
            if pace == "step":
                call(frame, handler, arguments, {}, event)
                return
            with frame.inside("amortised", at):
                call(frame, handler, arguments, {}, event)
    elif pace == "epoch":
        with frame.inside("epoch", at):
            call(frame, handler, arguments, {}, event)
    else:
        call(frame, handler, arguments, {}, event)


def engine_of(frame: Frame, event: ir.Call) -> d.Role:
    """The engine whose event it is: the one that is asked, or the one that a logger is attached to."""
    holder: ir.Expr | None = None
    if type(event.function) is ir.Attribute:
        attached = event.function.name == "attach" and event.arguments
        holder = event.arguments[0] if attached else event.function.value
    value = frame.evaluate(holder) if isinstance(holder, (ir.Name, ir.Attribute)) else ENGINE
    return value if type(value) is d.Role and value.role == "engine" else ENGINE


def takes_engine(handler: d.Function, given: int) -> bool:
    taken = [p for p in handler.ir.parameters if p.kind == "positional" and p.default is None]
    bound = 1 if handler.receiver is not None else 0
    return len(taken) - bound > given


def check_hook(frame: Frame, arguments: list[d.Value], keywords: dict[str, d.Value], node: ir.Call) -> None:
    """``trainer.add_event_handler(Events.COMPLETED, f, *args)``, ``logger.attach(trainer, log_handler=f, …)``."""
    if type(node.function) is not ir.Attribute or node.function.name not in HOOKING or not is_hook(node):
        return
    if node.function.name == "add_event_handler":
        handler = arguments[1] if len(arguments) > 1 else keywords.get("handler", d.UNKNOWN)
        hook(frame, node, handler, arguments[2:])
    elif "log_handler" in keywords:
        hook(frame, node, keywords["log_handler"], [d.UNKNOWN, d.UNKNOWN])
