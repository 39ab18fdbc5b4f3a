"""Calls: who is called, with what; the rest is in the rooms of torch, builtins and frameworks."""

from __future__ import annotations

import functools

import msgspec

from xlalint.facts.detectors.graph_breaks import check_break, is_turned_off
from xlalint.facts.domain.lattice import join_all, join_maybe
from xlalint.facts.domain.refinement import as_operand, at_most
from xlalint.facts.domain.values import (
    ANY_HOST,
    NONE,
    TENSOR_ROLES,
    UNKNOWN,
    Bound,
    Class,
    Function,
    Instance,
    KnownObject,
    Mapping,
    Module,
    Namespace,
    Sequence,
    Struct,
    Tensor,
    Union,
    Value,
    constant,
    function_value,
    module_value,
    struct,
)
from xlalint.facts.guards.torch_version import call_version
from xlalint.facts.interpreter.instantiation import construct
from xlalint.facts.libraries import dispatch
from xlalint.facts.libraries.frameworks.callbacks import check_called_back
from xlalint.facts.libraries.frameworks.ignite_events import check_hook
from xlalint.facts.libraries.frameworks.training import call_batch_method
from xlalint.facts.libraries.installed.followed_calls import INSTALLED, follow_call, follow_made
from xlalint.facts.libraries.python import builtins
from xlalint.facts.libraries.torch import functions, modules, tensor_methods
from xlalint.facts.libraries.unknown_objects import call_unknown_method
from xlalint.facts.operations import members
from xlalint.facts.operations.unknown_callee import call_unknown
from xlalint.facts.records import ROOT, stronger
from xlalint.facts.state.call import Arguments, Keywords
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.tables import guards
from xlalint.program import ir
from xlalint.program.traversal import decorator_names


def evaluate_call(frame: Frame, node: ir.Call) -> Value:
    callee = frame.evaluate(node.function)
    arguments, keywords = evaluate_arguments(frame, node)
    check_hook(frame, arguments, keywords, node)
    check_called_back(frame, callee, keywords, node)
    return call(frame, callee, arguments, keywords, node)


def evaluate_arguments(frame: Frame, node: ir.Call) -> tuple[Arguments, Keywords]:
    """Positional and keyword arguments; ``**`` stands for keywords that are not known."""
    arguments: Arguments = []
    for argument in node.arguments:
        if type(argument) is ir.Starred:
            value = frame.evaluate(argument.value)
            if type(value) is Sequence and value.elements is not None:
                arguments.extend(value.elements)
            else:
                arguments.append(members.element_of(frame, value))
        else:
            arguments.append(frame.evaluate(argument))
    keywords: Keywords = {}
    for name, argument in node.keywords:
        value = frame.evaluate(argument)
        if name is not None:
            keywords[name] = value
        else:
            if type(value) is Mapping:
                keywords.update((k, v) for k, v in value.items if isinstance(k, str))
                if value.rest is None:
                    continue
                keywords["**"] = value.rest
            else:
                keywords["**"] = value.element or UNKNOWN if type(value) is KnownObject else UNKNOWN
    return arguments, keywords


def call(frame: Frame, callee: Value, arguments: Arguments, keywords: Keywords, node: ir.Call) -> Value:
    kind = type(callee)
    if kind is Bound:
        return call_bound(frame, callee, arguments, keywords, node)  # type: ignore[arg-type]
    if kind is Namespace:
        return call_external(frame, callee.name, arguments, keywords, node)  # type: ignore[attr-defined]
    if kind is Function:
        return call_function(frame, callee, arguments, keywords, node)  # type: ignore[arg-type]
    if kind is Class:
        return construct(frame, callee, arguments, keywords, node)  # type: ignore[arg-type]
    if kind in (Instance, Struct):
        return call_object(frame, callee, arguments, keywords, node)
    if kind is Module:
        return modules.call_module(frame, callee, arguments, keywords, node)  # type: ignore[arg-type]
    if kind is KnownObject and callee.role == INSTALLED:  # type: ignore[attr-defined]
        followed = follow_made(frame, callee.detail, "", arguments, keywords, node)  # type: ignore[attr-defined]
        return followed if followed is not None else call_unknown(frame, arguments, keywords, node)
    if kind is KnownObject:
        return dispatch.call_role(frame, callee, arguments, keywords, node)  # type: ignore[arg-type]
    if kind is Union:
        return call_one_of(frame, callee, arguments, keywords, node)  # type: ignore[arg-type]
    if callee is ANY_HOST:
        return ANY_HOST
    return call_unknown(frame, arguments, keywords, node)


def call_one_of(frame: Frame, callee: Union, arguments: Arguments, keywords: Keywords, node: ir.Call) -> Value:
    """One of several. Where they are ops to choose from, what not all of them cost is only possible."""
    parts = [part for part in callee.alternatives if part is not NONE]
    if len(parts) < 2 or not all(type(part) in (Namespace, Module) for part in parts):
        return alike([call(frame, part, arguments, keywords, node) for part in parts])
    key, events = (node.at, ""), frame.record.events
    before, found, values = events.pop(key, None), [], []
    for part in parts:
        values.append(call(frame, part, arguments, keywords, node))
        found.append(events.pop(key, None))
    costs = [event for event in found if event is not None]
    if costs:
        worst = functools.reduce(stronger, costs)
        if len(costs) < len(parts):
            worst = msgspec.structs.replace(worst, certainty=0)
        before = worst if before is None else stronger(before, worst)
    if before is not None:
        events[key] = before
    return join_all(values)


def alike(values: list[Value]) -> Value:
    """What one of several callees gives. Where one is known to give a tensor, what may be called in its place gives
    one, too."""
    known = [value for value in values if type(value) is Tensor]
    if not known or not all(as_operand(value) in known or is_output(value) for value in values):
        return join_all(values)
    return at_most(join_all(known), 1) if len(known) < len(values) else join_all(known)


def is_output(value: Value) -> bool:
    return type(value) is KnownObject and value.role == "output"


def call_function(frame: Frame, callee: Function, arguments: Arguments, keywords: Keywords, node: ir.Call) -> Value:
    name = callee.ir.name
    guard = guards().calls.get(name)
    if guard is not None:
        return constant(guard)
    known = call_version(frame, name, arguments) or dispatch.known_function(frame, callee, arguments, keywords, node)
    if known is not None:
        return known
    if name in frame.engine.assumptions.host_functions:
        return ANY_HOST
    if name in frame.engine.assumptions.boundaries:
        frame.boundary(node.at)
    if callee.ir.decorators and is_turned_off(decorator_names(callee.ir)):
        check_break(frame, name, node)
    if callee.captured or callee.ir.free:
        callee = members.as_of_now(frame, callee)
    answer = frame.engine.call(frame, callee, arguments, keywords, node.at)
    if answer.writes and callee.receiver is not None:
        apply_writes(frame, node.function, callee.receiver, answer.writes)
    frame.after_call(answer)
    return answer.value


def apply_writes(frame: Frame, function: ir.Expr, receiver: Value, writes: dict[str, Value]) -> None:
    """What a method leaves in its object, the caller sees afterwards."""
    holder = function.value if type(function) is ir.Attribute else None
    if type(holder) is ir.Name and holder.name == "self" and type(receiver) in (Instance, Struct):
        for name, value in writes.items():
            frame.env[f"self.{name}"] = value
            frame.writes[name] = join_maybe(frame.writes.get(name), value) or value
    elif type(receiver) is Struct and holder is not None:
        fields = dict(receiver.fields)
        fields.update(writes)
        updated = struct(receiver.ir, tuple(fields.items()))
        if type(holder) is ir.Name and holder.name in frame.env:
            frame.env[holder.name] = updated
        elif type(holder) is ir.Attribute and type(holder.value) is ir.Name and holder.value.name == "self":
            frame.env[f"self.{holder.name}"] = updated


def call_object(frame: Frame, callee: Value, arguments: Arguments, keywords: Keywords, node: ir.Call) -> Value:
    """``module(x)`` is ``forward``; another object's call is ``__call__``."""
    program = frame.engine.program
    cls: ir.ClassIR = callee.ir  # type: ignore[attr-defined]
    is_module = members.is_module_class(frame, cls)
    if is_module:
        frame.sign("model-call", node.at)
    method = program.method(cls, "forward") if is_module else program.method(cls, "__call__")
    method = method or program.method(cls, "forward") or program.method(cls, "__call__")
    if method is not None:
        answer = frame.engine.call(frame, function_value(method, callee), arguments, keywords, node.at)
        if type(callee) is Struct:
            apply_writes(frame, ir.Attribute(node.function, "__call__", node.at), callee, answer.writes)
        frame.after_call(answer)
        return answer.value
    base = next((b for b in program.external_bases(cls) if b.startswith("torch.nn.")), None)
    if base is not None:
        return modules.call_module(frame, module_value(base), arguments, keywords, node)
    return call_unknown(frame, arguments, keywords, node)


def call_bound(frame: Frame, callee: Bound, arguments: Arguments, keywords: Keywords, node: ir.Call) -> Value:
    receiver, name = callee.receiver, callee.name
    guard = guards().calls.get(name)
    if guard is not None:
        return constant(guard)
    if type(receiver) is KnownObject and receiver.role in TENSOR_ROLES:
        return call_batch_method(frame, receiver, name, arguments, keywords, node)
    if type(receiver) is Tensor:
        return tensor_methods.call_tensor_method(frame, receiver, name, arguments, keywords, node)
    if type(receiver) is KnownObject and receiver.role == INSTALLED:
        by_name = call_unknown_method(frame, receiver, name, arguments, keywords, node)
        return follow_made(frame, receiver.detail, name, arguments, keywords, node) or by_name
    return dispatch.call_method(frame, receiver, name, arguments, keywords, node)


def call_external(frame: Frame, name: str, arguments: Arguments, keywords: Keywords, node: ir.Call) -> Value:
    if name.startswith("builtins."):
        return builtins.call_builtin(frame, name[9:], arguments, keywords, node)
    last = name.rpartition(".")[2]
    table = guards().calls
    guard = table.get(name, table.get(last))
    if guard is not None:
        dispatch.note_external(frame, name, arguments, keywords, node)
        return constant(guard)
    known = call_version(frame, name, arguments) or dispatch.call_library(frame, name, arguments, keywords, node)
    if known is not None:
        return known
    if name.startswith("torch."):
        return functions.call_torch(frame, name, arguments, keywords, node)
    followed = follow_call(frame, name, arguments, keywords, node)
    return followed if followed is not None else call_unknown(frame, arguments, keywords, node)


def in_loop(frame: Frame) -> bool:
    return frame.region != ROOT
