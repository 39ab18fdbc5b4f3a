"""Modules that are moved to the host and back. One direction alone costs once."""

from __future__ import annotations

from collections.abc import Iterator

from xlalint.facts.domain.values import HOST, NONE, UNKNOWN, XLA, Host, Value
from xlalint.facts.events import Effect
from xlalint.facts.operations.shapes import device_of
from xlalint.facts.state.call import Call
from xlalint.facts.state.frame import Frame
from xlalint.program import ir


def check_way_to_host(frame: Frame, call: Call) -> None:
    """``model.cpu()`` and ``model.to("cpu")``, where the same function moves the model back."""
    if not goes_to_host(call.name, call.arguments, call.keywords) or type(call.node.function) is not ir.Attribute:
        return
    moved = dotted_path(call.node.function.value)
    if moved and any(path == moved for path in moved_back(frame, frame.function.body)):
        frame.emit(Effect.MODEL_TO_HOST, call.node.at, NONE, call.name, call.node.function.value)


def goes_to_host(name: str, arguments: list[Value], keywords: dict[str, Value]) -> bool:
    if name == "cpu":
        return True
    given = arguments[0] if arguments else keywords.get("device")
    return name == "to" and given is not None and device_of(given) == HOST


def moved_back(frame: Frame, node: object) -> Iterator[str]:
    """What the function moves to a device that is not known to be the host."""
    if isinstance(node, tuple):
        for part in node:
            yield from moved_back(frame, part)
    elif isinstance(node, ir.Node):
        if isinstance(node, ir.Call) and isinstance(node.function, ir.Attribute) and node.function.name == "to":
            given = [*node.arguments, *(value for name, value in node.keywords if name == "device")]
            if given and may_be_device(frame, given[0]):
                yield dotted_path(node.function.value)
        for field in node.__struct_fields__:
            yield from moved_back(frame, getattr(node, field))


def may_be_device(frame: Frame, node: ir.Expr) -> bool:
    frame.quiet += 1
    value = frame.evaluate(node)
    frame.quiet -= 1
    if type(value) is not Host:
        return value is UNKNOWN
    # A parameter called ``device`` is a host object, and no more is known of it.
    return value.type in ("device", "str", "?") and device_of(value) == XLA


def dotted_path(node: ir.Expr) -> str:
    """``self.model`` as text; empty where something is computed first."""
    if type(node) is ir.Name:
        return node.name
    if type(node) is ir.Attribute:
        inner = dotted_path(node.value)
        return f"{inner}.{node.name}" if inner else ""
    return ""
