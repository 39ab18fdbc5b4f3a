"""Decorators: ``@torch.compile(…)`` costs what a call of it does."""

from __future__ import annotations

from xlalint.facts.detectors.graph_breaks import note_decorated
from xlalint.facts.domain.values import Namespace, Partial, Value, function_value
from xlalint.facts.interpreter.calls import apply, completed, evaluate_arguments
from xlalint.facts.libraries import dispatch
from xlalint.facts.state.call import Call
from xlalint.facts.state.frame import Frame
from xlalint.program import ir


def note_decorators(frame: Frame, function: ir.FunctionIR) -> None:
    """What is called where a function is defined: a decorator that is a call, and a name that is one by standing there.

    A decorator of the program is evaluated where it is called from.
    """
    note_decorated(frame, function)
    given: list[Value] = [function_value(function)]
    for decorator in function.decorators:
        if type(decorator) is ir.Call:
            callee = evaluated(frame, decorator.function)
            arguments, keywords = evaluate_arguments(frame, decorator) if callee is not None else ([], {})
            made = note(frame, callee, Call("", arguments, keywords, decorator))
            note(frame, made, Call("", given, {}, decorator))
        elif isinstance(decorator, (ir.Name, ir.Attribute)):
            node = ir.Call(decorator, (), (), decorator.at)
            note(frame, evaluated(frame, decorator), Call("", given, {}, node))


def evaluated(frame: Frame, node: ir.Expr) -> Value | None:
    """What a decorator's name stands for, where that lies outside of the program."""
    value = frame.evaluate(node) if isinstance(node, (ir.Name, ir.Attribute)) else None
    return value if isinstance(value, (Namespace, Partial)) else None


def note(frame: Frame, callee: Value | None, call: Call) -> Value | None:
    """Note what calling something of a library costs. Gives ``functools.partial`` of it, which is yet to be called."""
    if type(callee) is Partial:
        return note(frame, callee.target, completed(callee, call))
    if type(callee) is not Namespace:
        return None
    if callee.name == PARTIAL:
        made = apply(frame, callee, call)
        return made if isinstance(made, (Namespace, Partial)) else None
    dispatch.note_external(frame, call.named(callee.name))
    return None


PARTIAL = "functools.partial"
