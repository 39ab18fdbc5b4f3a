"""Handlers of ignite's engines: which event calls them, and how often it fires."""

from __future__ import annotations

from xlalint.facts.domain.role import Role
from xlalint.facts.domain.values import UNKNOWN, Function, KnownObject, Value
from xlalint.facts.kinds import RegionKind, SignKind
from xlalint.facts.libraries.frameworks.ignite import BOUNDED, ENGINE
from xlalint.facts.state.call import Call
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.tables import frameworks
from xlalint.program import ir

EVENTS = "Events"


PACES = ("once", "epoch", "amortised", "step")
"""How often a handler runs, the seldom first."""


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


def hook(frame: Frame, event: ir.Call, handler: Value, rest: list[Value]) -> None:
    """Call a handler as often as its event fires."""
    first = event_of(event)
    pace = pace_of(first) if first is not None else None
    if pace is None or type(handler) is not Function:
        return
    engine = engine_of(frame, event)
    arguments = [engine, *rest] if takes_engine(handler, len(rest)) else rest
    at = event.at
    if pace in ("step", "amortised"):
        with frame.inside(RegionKind.LOOP, at, "loader", at):
            frame.sign(SignKind.FRAMEWORK, at)
            if engine.detail == BOUNDED:
                frame.boundary(at)
            if pace == "step":
                frame.call(handler, Call("", arguments, {}, event))
                return
            with frame.inside(RegionKind.AMORTISED, at):
                frame.call(handler, Call("", arguments, {}, event))
    elif pace == "epoch":
        with frame.inside(RegionKind.EPOCH, at):
            frame.call(handler, Call("", arguments, {}, event))
    else:
        frame.call(handler, Call("", arguments, {}, event))


def engine_of(frame: Frame, event: ir.Call) -> KnownObject:
    """The engine whose event it is: the one that is asked, or the one that a logger is attached to."""
    holder: ir.Expr | None = None
    if type(event.function) is ir.Attribute:
        attached = event.function.name == "attach" and event.arguments
        holder = event.arguments[0] if attached else event.function.value
    value = frame.evaluate(holder) if isinstance(holder, (ir.Name, ir.Attribute)) else ENGINE
    return value if type(value) is KnownObject and value.role == Role.ENGINE else ENGINE


def takes_engine(handler: Function, given: int) -> bool:
    taken = [p for p in handler.ir.parameters if p.kind == "positional" and p.default is None]
    bound = 1 if handler.receiver is not None else 0
    return len(taken) - bound > given


def check_hook(frame: Frame, call: Call) -> None:
    """``trainer.add_event_handler(Events.COMPLETED, f, *args)``, ``logger.attach(trainer, log_handler=f, …)``."""
    if type(call.node.function) is not ir.Attribute or call.node.function.name not in HOOKING or not is_hook(call.node):
        return
    if call.node.function.name == "add_event_handler":
        handler = call.arguments[1] if len(call.arguments) > 1 else call.keywords.get("handler", UNKNOWN)
        hook(frame, call.node, handler, call.arguments[2:])
    elif "log_handler" in call.keywords:
        hook(frame, call.node, call.keywords["log_handler"], [UNKNOWN, UNKNOWN])
