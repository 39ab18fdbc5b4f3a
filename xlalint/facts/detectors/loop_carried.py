"""Loop-carried tensors: concatenations that grow, autograd graphs that are never cut."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from xlalint.facts.domain.refinement import as_operand
from xlalint.facts.domain.values import (
    UNKNOWN,
    Class,
    Function,
    Host,
    Instance,
    Mapping,
    Module,
    Namespace,
    Sequence,
    Struct,
    Tensor,
    Union,
    Value,
    tensor,
    tensor_of,
)
from xlalint.facts.events import Effect
from xlalint.facts.state.frame import Frame
from xlalint.facts.state.reaching import assignment_of
from xlalint.program import ir
from xlalint.program.def_use import bound_anew
from xlalint.program.traversal import names_in, path_of

CUTTING = frozenset({"detach", "item", "size", "numel", "argmax"})
"""Methods whose result has no graph."""
JOINING = frozenset({"cat", "concat", "concatenate", "hstack", "vstack", "dstack"})


def check(frame: Frame, node: ir.Assign, value: Value) -> None:
    """Of an assignment in a loop, or to an attribute."""
    if type(node.value) is ir.Name:
        check_renamed(frame, node, node.value.name, value)
        return
    if type(node.value) is not ir.Call or len(node.targets) != 1:
        check_unpacked(frame, node, value)
        return
    target = path_of(node.targets[0])
    if target is None:
        check_unpacked(frame, node, value)
        return
    known = tensor_of(value)
    if known is None or not known.live:
        return
    if joins_itself(node.value, target):
        loop = frame.loop_key()
        anew = loop is not None and bound_anew(frame.function.body, node, target, loop[2])
        if not anew and (loop is not None or target.startswith("self.")):
            frame.emit(Effect.GROWING, node.at, value, "cat", node.targets[0], varies=loop)
        return
    check_carried(frame, node, target, known)


def joins_itself(call: ir.Call, target: str) -> bool:
    """``x = torch.cat([x, y])``."""
    function = call.function
    if not isinstance(function, (ir.Name, ir.Attribute)) or function.name not in JOINING:
        return False
    if not call.arguments or type(call.arguments[0]) is not ir.Display:
        return False
    return any(path_of(part) == target for part in call.arguments[0].elements)


def check_carried(frame: Frame, node: ir.Assign, target: str, known: Tensor) -> None:
    """``h = model(x, h)`` in a loop: the gradient's graph goes back through every step."""
    call = node.value
    assert isinstance(call, ir.Call)
    if frame.no_grad or not known.grad or "." in target or frame.loop_key() is None:
        return
    callee = frame.record_callee(call) and keeps_graph(frame, node, target)
    arguments = [*call.arguments, *(value for _, value in call.keywords)]
    if callee and any(path_of(argument) == target for argument in arguments):
        _emit(frame, node, known, target)


def check_renamed(frame: Frame, node: ir.Assign, source: str, value: Value) -> None:
    """``new = cell(x, h)``, and later ``h = new``: carried all the same."""
    target = path_of(node.targets[0])
    known = tensor_of(value)
    loop = frame.loop_key()
    if target is None or "." in target or loop is None or known is None or frame.no_grad:
        return
    if not (known.grad and known.live) or not keeps_graph(frame, node, target):
        return
    if derives(frame, source, target, loop[2]):
        _emit(frame, node, known, target, form="carried-name")


def _emit(frame: Frame, node: ir.Assign, known: Tensor, target: str, form: str = "") -> None:
    loop = frame.loop_key()
    at = node.targets[0]
    frame.emit(Effect.GRAPH_THROUGH_STEPS, node.at, known, target, at, certainty=1, form=form, varies=loop)


def derives(frame: Frame, source: str, target: str, first_line: int) -> bool:
    """Whether this iteration computed ``source`` from ``target``, step by step, without cutting the graph."""
    pending, seen = [source], set()
    while pending:
        name = pending.pop()
        assigned = assignment_of(frame, name)
        if name in seen or assigned is None or ir.unpack(assigned.at)[0] <= first_line:
            continue
        seen.add(name)
        frame.engine.work += 1
        used = frozenset(names_in(assigned.value, CUTTING))
        if target in used:
            return True
        pending.extend(used)
    return False


def check_unpacked(frame: Frame, node: ir.Assign, value: Value) -> None:
    """``out, h = model(x, h)``."""
    if type(node.value) is not ir.Call or len(node.targets) != 1 or type(node.targets[0]) is not ir.Display:
        return
    if frame.no_grad or frame.loop_key() is None or not frame.record_callee(node.value):
        return
    call = node.value
    arguments = {path_of(a) for a in [*call.arguments, *(value for _, value in call.keywords)]}
    for position, element in enumerate(node.targets[0].elements):
        path = path_of(element)
        if path is None or path not in arguments or "." in path or not may_have_graph(part_of(value, position)):
            continue
        if keeps_graph(frame, node, path):
            frame.emit(
                Effect.GRAPH_THROUGH_STEPS,
                node.at,
                tensor(certainty=1),
                path,
                element,
                certainty=1,
                varies=frame.loop_key(),
            )


def keeps_graph(frame: Frame, node: ir.Assign, path: str) -> bool:
    """Whether the name still holds what the last iteration left there, and that may have a graph."""
    loop, bound = frame.loop_key(), frame.origins.get(path, 0)
    if loop is not None and bound != node.at and ir.unpack(bound)[0] > loop[2]:
        return False
    return may_have_graph(frame.env.get(path, UNKNOWN))


def part_of(value: Value, position: int) -> Value:
    """What the target at a position is given."""
    if type(value) is not Sequence:
        return UNKNOWN
    known = value.elements
    return known[position] if known is not None and position < len(known) else value.element


def may_have_graph(value: Value) -> bool:
    if type(value) in HELD:
        return any(map(may_have_graph, HELD[type(value)](value)))
    if type(value) in WITHOUT_GRAPH:
        return False
    known = tensor_of(as_operand(value))
    return known.grad and known.live if known is not None else True


HELD: dict[type[Value], Callable[[Any], Iterable[Value]]] = {
    Sequence: lambda value: (value.element,) if value.elements is None else value.elements,
    Mapping: lambda value: [*(part for _, part in value.items), *(() if value.rest is None else (value.rest,))],
    Struct: lambda value: [part for _, part in value.fields if part is not UNKNOWN],
    Union: lambda value: value.alternatives,
}
"""What is in values that hold others: one that has a graph is enough. An unknown field of an object, such as the sum of
a meter, is as often a number."""
WITHOUT_GRAPH = frozenset({Host, Instance, Module, Function, Class, Namespace})
"""Kinds of values of which none is a tensor. The fields of an object that holds tensors are known, or there are too
many of them to tell."""
