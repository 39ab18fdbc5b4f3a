"""Calls into installed packages that are followed: functions, and methods of objects of their classes."""

from __future__ import annotations

from xlalint.facts.detectors.costly_calls import held_tensor
from xlalint.facts.domain.refinement import as_operand, at_most
from xlalint.facts.domain.role import Role
from xlalint.facts.domain.values import UNKNOWN, Value, known_object, module_value, tensor
from xlalint.facts.events import Effect
from xlalint.facts.external import Called, ExternalSummary
from xlalint.facts.failures import Failure
from xlalint.facts.kinds import SignKind
from xlalint.facts.state.call import Call
from xlalint.facts.state.frame import Frame
from xlalint.program import ir

INSTALLED = Role.INSTALLED
"""The role of an object of a package's class."""


def follow_call(frame: Frame, call: Call) -> Value | None:
    """What a call of a dotted name gives; None where nothing is found out."""
    follower = frame.engine.follower_of(frame.path)
    if follower is None:
        return None
    called = Called(call.arguments, call.keywords, frame.no_grad)
    operand = given_tensor(called)
    if operand is None and is_spelled_as_function(call.name):
        return None
    kind = follower.kind_of(call.name, frame.path)
    if kind == "module":
        return module_value(call.name, None, None, follower.made(call.name, called))
    if kind == "class":
        return known_object(INSTALLED, None, follower.made(call.name, called))
    if kind != "function" or operand is None:
        return None
    return note_summary(frame, follower.of_call(call.name, frame.path, called), call.name, operand, call.node)


def is_spelled_as_function(name: str) -> bool:
    """Without a tensor nothing is asked about a function, so what is spelled as one need not be looked up."""
    return name.rpartition(".")[2][:1].islower()


def follow_made(frame: Frame, made: str | None, call: Call) -> Value | None:
    """A method of an object of a package's class, "" for the call of the object itself."""
    follower = frame.engine.follower_of(frame.path)
    if made is None or follower is None:
        return None
    called = Called(call.arguments, call.keywords, frame.no_grad)
    operand = given_tensor(called)
    if operand is None and (call.arguments or call.keywords):
        return None
    summary = follower.of_method(made, call.name, frame.path, called)
    if summary is None:
        return None
    return note_summary(frame, summary, call.name, operand or tensor(certainty=1), call.node)


def follow_method(frame: Frame, cls: str, call: Call) -> Value | None:
    """The same of an object of which only the class is known: it is taken for one that was made without arguments."""
    follower = frame.engine.follower_of(frame.path)
    made = None if follower is None else follower.made(cls, Called([], {}, False))
    return follow_made(frame, made, call)


def given_tensor(called: Called) -> Value | None:
    """A tensor on the device that the call is given, at whatever depth."""
    for value in (*called.arguments, *called.keywords.values()):
        found = held_tensor(as_operand(value))
        if found is not None:
            return found
    return None


def call_failure(frame: Frame, summary: ExternalSummary, node: ir.Call) -> Failure:
    line = ir.unpack(node.at)[0]
    return Failure(frame.path, line, frame.function.qualname, f"in the package called here: {summary.failure}", True)


def note_summary(frame: Frame, summary: ExternalSummary, name: str, operand: Value, node: ir.Call) -> Value | None:
    """Note what a call costs; what it gives, where that is known."""
    frame.pending()
    if summary.failure:
        frame.engine.failures[call_failure(frame, summary, node)] = None
    for kind in summary.signs:
        frame.sign(kind, node.at)
    if SignKind.BOUNDARY in summary.signs:
        frame.boundary(node.at)
    cost = summary.cost
    if cost is not None and cost.certainty:
        shown = node.arguments[0] if node.arguments else None
        detail = f"{cost.what}: {cost.place}"
        frame.emit(Effect.COST_IN_LIBRARY, node.at, operand, name.rpartition(".")[2], shown, certainty=1, detail=detail)
    return None if summary.value is UNKNOWN else at_most(summary.value, 1)
