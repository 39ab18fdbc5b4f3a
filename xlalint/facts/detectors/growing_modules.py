"""Modules that grow from step to step: added layers, hooks that are registered and never removed."""

from __future__ import annotations

from xlalint.facts.domain.values import NONE, Module
from xlalint.facts.events import Effect
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.tables import frameworks
from xlalint.program import ir

ADDING = frozenset({"append", "extend", "insert"})
HOLDERS = ("ModuleList", "Sequential")


def check_hooked(frame: Frame, name: str, node: ir.Call) -> None:
    """Who removes hooks again, anywhere in the function, keeps their number."""
    if name in frameworks().names("hook") and "remove" not in frame.function.called:
        emit_growth(frame, "hook", node)


def check_added(frame: Frame, module: Module, name: str, node: ir.Call) -> None:
    if name in ADDING and module.name.endswith(HOLDERS):
        emit_growth(frame, "layer", node)


def emit_growth(frame: Frame, subject: str, node: ir.Call) -> None:
    """In a function without a loop, what it was given may grow: whether a loop of steps calls it is seen later."""
    loop = frame.loop_key()
    bound = bound_at(frame, node.function)
    grows = frame.function.name != "__init__" and not bound if loop is None else not bound or bound < loop[2]
    if grows:
        frame.emit(Effect.GROWING_MODULE, node.at, NONE, subject, None, varies=loop)


def bound_at(frame: Frame, node: ir.Expr) -> int:
    """The line on which this function bound the name of what grows; 0 where it was given."""
    while isinstance(node, (ir.Attribute, ir.Subscript, ir.Call)):
        node = node.function if isinstance(node, ir.Call) else node.value
    return frame.bound_on(node.name) if type(node) is ir.Name else 0
