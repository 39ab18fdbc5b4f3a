"""Loop-carried tensors: concatenations that grow, autograd graphs that are never cut."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from xlalint.facts.domain.refinement import as_operand
from xlalint.facts.domain.values import (
    UNKNOWN,
    XLA,
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
from xlalint.facts.kinds import SignKind
from xlalint.facts.state.frame import Frame
from xlalint.facts.state.reaching import assignment_of
from xlalint.program import ir
from xlalint.program.def_use import bound_anew, same, sums_of
from xlalint.program.growth import WHOLE, grown_entries, grown_parameters, joined_by, joins
from xlalint.program.traversal import names_in, path_of

CUTTING = frozenset({"detach", "item", "size", "numel", "argmax"})
"""Methods whose result has no graph."""


def check(frame: Frame, node: ir.Assign, value: Value) -> None:
    """Of an assignment in a loop, or to an attribute, or of one that joins tensors."""
    if joins(node.value) and node.at in grown_entries(frame.function):
        check_entry(frame, node, value)
        return
    if not frame.loops and type(node.targets[0]) is not ir.Attribute:
        return
    if type(node.value) is ir.Name:
        check_renamed(frame, node, node.value.name, value)
        return
    if type(node.value) is not ir.Call or len(node.targets) != 1:
        check_unpacked(frame, node, value)
        return
    target = path_of(node.targets[0])
    if target is None:
        check_held(frame, node, value)
        check_unpacked(frame, node, value)
        return
    known = tensor_of(value)
    if known is None or not known.live:
        return
    if joins_itself(node.value, target) or lengthens(frame, node, target, WHOLE):
        check_longer(frame, node, node.targets[0], value)
        return
    check_carried(frame, node, target, known)


def note_sums(frame: Frame, loop: ir.For) -> None:
    """``correct += (guess == y).sum()``: what a loop adds up on the device grows with each turn, whatever else of the
    turn is read."""
    for name in sums_of(loop) if frame.environment is not None else ():
        known = tensor_of(frame.env.get(name))
        if known is not None and known.device == XLA and known.certainty > 0:
            frame.sign(SignKind.SUMS, loop.at)


def check_longer(frame: Frame, node: ir.Assign, element: ir.Expr, value: Value) -> None:
    """What a loop, or an object, keeps from one step to the next, and this makes longer."""
    known, target, loop = tensor_of(value), path_of(element), frame.loop_key()
    if known is None or not known.live or target is None:
        return
    anew = loop is not None and bound_anew(frame.function.body, node, target, loop[2])
    if not anew and (loop is not None or target.startswith("self.")):
        frame.emit(Effect.GROWING, node.at, value, "cat", element, varies=loop)


def check_held(frame: Frame, node: ir.Assign, value: Value) -> None:
    """``cache["key"] = torch.cat([cache["key"], key])`` in a loop that has not made the cache."""
    target, known, loop = node.targets[0], tensor_of(value), frame.loop_key()
    if type(target) is not ir.Subscript or type(target.index) is not ir.Constant or loop is None:
        return
    holder = path_of(target.value)
    itself = any(same(part, target) for part in joined_by(node.value))
    if holder is None or known is None or not known.live or not itself:
        return
    if not bound_anew(frame.function.body, node, holder, loop[2]):
        frame.emit(Effect.GROWING, node.at, value, "cat", target, varies=loop)


def check_entry(frame: Frame, node: ir.Assign, value: Value) -> None:
    """``key = torch.cat([cache["key"], key])``, which the function hands back in the entry's place."""
    known = tensor_of(value)
    if known is not None and known.live:
        frame.emit(Effect.GROWING, node.at, value, "cat", node.targets[0], certainty=1)


def joins_itself(call: ir.Call, target: str) -> bool:
    """``x = torch.cat([x, y])``."""
    return any(path_of(part) == target for part in joined_by(call))


def lengthens(frame: Frame, node: ir.Assign, target: str, place: int) -> bool:
    """``x = append(x, y)``: whether the function gives back, in this place of its result, what it is given, joined to
    something."""
    call = node.value
    assert isinstance(call, ir.Call)
    given = [i for i, argument in enumerate(call.arguments) if path_of(argument) == target]
    named = [name for name, argument in call.keywords if path_of(argument) == target]
    if not (given or named) or not frame.record_callee(call):
        return False
    frame.quiet += 1
    callee = frame.evaluate(call.function)
    frame.quiet -= 1
    if type(callee) is not Function:
        return False
    names = [parameter.name for parameter in callee.ir.parameters]
    first = len(callee.bound) + (callee.receiver is not None)
    passed = {*named, *names[first:][given[0] : given[0] + 1]} if given else set(named)
    return any(name in passed and position == place for name, position in grown_parameters(callee.ir))


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


def _emit(frame: Frame, node: ir.Assign, known: Tensor, target: str, form: str = "", at: ir.Expr | None = None) -> None:
    at, loop = at or node.targets[0], frame.loop_key()
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
        frame.engine.work.statements += 1
        used = frozenset(names_in(assigned.value, CUTTING))
        if target in used:
            return True
        pending.extend(used)
    return False


def check_unpacked(frame: Frame, node: ir.Assign, value: Value) -> None:
    """``out, h = model(x, h)``."""
    if type(node.value) is not ir.Call or len(node.targets) != 1 or type(node.targets[0]) is not ir.Display:
        return
    loop = frame.loop_key()
    if loop is None or not frame.record_callee(node.value):
        return
    call = node.value
    arguments = {path_of(a) for a in [*call.arguments, *(value for _, value in call.keywords)]}
    for position, element in enumerate(node.targets[0].elements):
        path = path_of(element)
        if path is None or path not in arguments:
            continue
        given = part_of(value, position)
        if lengthens(frame, node, path, position):
            check_longer(frame, node, element, given)
        elif not frame.no_grad and "." not in path and may_have_graph(given) and keeps_graph(frame, node, path):
            _emit(frame, node, tensor(certainty=1), path, at=element)


def keeps_graph(frame: Frame, node: ir.Assign, path: str) -> bool:
    """Whether the name still holds what the last iteration left there, and that may have a graph. What the loop goes
    through is new in each."""
    loop, bound = frame.loop_key(), frame.origins.get(path, 0)
    if loop is not None and bound != node.at and ir.unpack(bound)[0] >= loop[2]:
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
