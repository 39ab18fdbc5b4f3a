"""What a function leaves in the objects that it was given: fields that it sets, containers that it fills."""

from __future__ import annotations

from xlalint.facts.domain.lattice import join_maybe, without_constant
from xlalint.facts.domain.values import NONE, UNKNOWN, Instance, Mapping, Sequence, Struct, Tensor, Value, struct
from xlalint.facts.state.call import Call
from xlalint.facts.state.environment import Environment, Names, join_environments
from xlalint.facts.state.frame import Frame
from xlalint.facts.state.store import is_own_parameter, store
from xlalint.program import ir

MAX_FIELDS = 16


def set_field(frame: Frame, name: str, holder: Instance | Struct, field: str, value: Value) -> None:
    """``state.model = net``: from here on the object has it, for whoever handed the object on, too."""
    frame.env[name] = with_fields(frame, holder, {field: value})
    if is_own_parameter(frame, name):
        note_fields(frame, name, {field: value})


def note_fields(frame: Frame, name: str, fields: Names) -> None:
    known = frame.fields_given.setdefault(name, {})
    for field, value in fields.items():
        known[field] = join_maybe(known.get(field), value) or value


def with_fields(frame: Frame, holder: Instance | Struct, added: Names) -> Value:
    """An object with more fields. What its class does not tell of a field may change where nobody looks, so that a
    constant there is not sure; modules are known by their classes."""
    engine = frame.engine
    if type(holder) is Instance and engine.is_module_class(holder.ir):
        return holder
    fields = dict(holder.fields) if type(holder) is Struct else {}
    for name, value in added.items():
        if name in fields:
            fields[name] = value
        elif value is NONE or value is UNKNOWN or engine.program.method(holder.ir, name) is not None:
            continue
        elif len(fields) < MAX_FIELDS:
            fields[name] = without_constant(value)
    return struct(holder.ir, tuple(fields.items())) if fields else holder


def leave_fields(frame: Frame, holder: ir.Expr, receiver: Value, fields: Names) -> None:
    """What was set in an object, seen by who holds it."""
    if type(holder) is ir.Name and holder.name == "self" and type(receiver) in (Instance, Struct):
        for name, value in fields.items():
            frame.env[f"self.{name}"] = value
            frame.writes[name] = join_maybe(frame.writes.get(name), value) or value
    elif isinstance(receiver, (Instance, Struct)):
        updated = with_fields(frame, receiver, fields)
        if type(holder) is ir.Name and holder.name in frame.env:
            frame.env[holder.name] = updated
            if is_own_parameter(frame, holder.name):
                note_fields(frame, holder.name, fields)
        elif type(holder) is ir.Attribute and type(holder.value) is ir.Name and holder.value.name == "self":
            frame.env[f"self.{holder.name}"] = updated


# What a call leaves


def left_in_given(frame: Frame) -> tuple[dict[str, Names], Names]:
    """The fields of parameters that a function has set, and its parameters that it has filled."""
    if not frame.fields_given and not frame.filled:
        return NOTHING_LEFT
    ends = join_environments(frame.final, frame.environment) or Environment()
    fields = {name: at_the_end(ends.get(name), set_there) for name, set_there in frame.fields_given.items()}
    return fields, {name: ends[name] for name in frame.filled if type(ends.get(name)) in (Mapping, Sequence)}


NOTHING_LEFT: tuple[dict[str, Names], Names] = ({}, {})


def at_the_end(holder: Value | None, fields: Names) -> Names:
    """A tensor is where the function's end has it, and not where it was on the way."""
    if type(holder) is not Struct:
        return fields
    ends = {name: holder.get(name) for name, value in fields.items() if type(value) is Tensor}
    return {**fields, **{name: value for name, value in ends.items() if type(value) is Tensor}}


def leave_in_arguments(frame: Frame, function: ir.FunctionIR, first: int, call: Call, left: Given) -> None:
    """What a function has left in its arguments; ``first`` of its parameters were bound before."""
    fields, filled = left
    nodes, values = arguments_by_parameter(function, first, call)
    for name in fields.keys() & nodes.keys():
        leave_fields(frame, nodes[name], current(frame, nodes[name], values[name]), fields[name])
    for name in filled.keys() & nodes.keys():
        node = nodes[name]
        if type(node) is not ir.Name or node.name in frame.env:
            store(frame, node, filled[name])


Given = tuple[dict[str, Names], Names]


def arguments_by_parameter(function: ir.FunctionIR, first: int, call: Call) -> tuple[dict[str, ir.Expr], Names]:
    """A call's expressions and values by the parameter that takes them."""
    nodes: dict[str, ir.Expr] = {name: node for name, node in call.node.keywords if name is not None}
    values = {name: call.keywords[name] for name in nodes if name in call.keywords}
    if len(call.arguments) == len(call.node.arguments):
        takers = [parameter.name for parameter in function.parameters if parameter.kind == "positional"][first:]
        nodes.update(zip(takers, call.node.arguments, strict=False))
        values.update(zip(takers, call.arguments, strict=False))
    return {name: node for name, node in nodes.items() if name in values}, values


def current(frame: Frame, node: ir.Expr, value: Value) -> Value:
    return frame.env.get(node.name, value) if type(node) is ir.Name else value
