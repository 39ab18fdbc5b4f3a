"""Calls: evaluation of callee and arguments, and dispatch by the type of the callee."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import msgspec

from xlalint.facts.detectors.file_sizes import check_file_sizes
from xlalint.facts.detectors.graph_breaks import check_break, is_turned_off
from xlalint.facts.detectors.learning import note_learning
from xlalint.facts.domain.lattice import join_all
from xlalint.facts.domain.refinement import as_operand, at_most
from xlalint.facts.domain.role import Role
from xlalint.facts.domain.values import (
    ANY_HOST,
    NONE,
    UNKNOWN,
    Bound,
    Class,
    Function,
    Host,
    Instance,
    KnownObject,
    Mapping,
    Module,
    Namespace,
    Partial,
    Sequence,
    Struct,
    Tensor,
    Union,
    Value,
    constant,
    function_value,
    module_value,
)
from xlalint.facts.guards.torch_version import call_version
from xlalint.facts.interpreter.instantiation import construct
from xlalint.facts.kinds import SignKind
from xlalint.facts.libraries import dispatch
from xlalint.facts.libraries.frameworks.callbacks import check_called_back
from xlalint.facts.libraries.frameworks.ignite_events import check_hook
from xlalint.facts.libraries.installed.followed_calls import INSTALLED, follow_call, follow_made
from xlalint.facts.libraries.python import builtins
from xlalint.facts.libraries.python.files import read_again
from xlalint.facts.libraries.torch import functions, modules
from xlalint.facts.libraries.unknown_objects import call_unknown_method
from xlalint.facts.operations import members
from xlalint.facts.operations.given_objects import leave_fields, leave_in_arguments
from xlalint.facts.operations.placement import given_by
from xlalint.facts.operations.unknown_callee import ROWS_OF_HOST, call_unknown
from xlalint.facts.records import stronger
from xlalint.facts.state.call import Arguments, Call, Keywords
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.tables import guards
from xlalint.program import ir
from xlalint.program.traversal import decorator_names


def evaluate_call(frame: Frame, node: ir.Call) -> Value:
    callee = frame.evaluate(node.function)
    arguments, keywords = evaluate_arguments(frame, node)
    call = Call("", arguments, keywords, node)
    check_hook(frame, call)
    check_called_back(frame, callee, call)
    note_learning(frame, callee, call)
    check_file_sizes(frame, callee, call)
    return given_by(frame, node.function, apply(frame, callee, call), arguments)


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


def apply(frame: Frame, callee: Value, call: Call) -> Value:
    """What calling a value gives."""
    handler = CALLEES.get(type(callee))
    value = call_unknown(frame, call) if handler is None else handler(frame, callee, call)
    if (value is UNKNOWN or value is ANY_HOST) and "return_tensors" in call.keywords:
        # Tokenizers and processors alone are asked for tensors by name.
        return ROWS_OF_HOST
    return value


def call_namespace(frame: Frame, callee: Namespace, call: Call) -> Value:
    return call_external(frame, call.named(callee.name))


def call_partial(frame: Frame, callee: Partial, call: Call) -> Value:
    return call_external(frame, completed(callee, call))


def completed(callee: Partial, call: Call) -> Call:
    """The call that a ``partial`` makes of one."""
    keywords = {**dict(callee.bound_keywords), **call.keywords}
    return Call(callee.target.name, [*callee.bound, *call.arguments], keywords, call.node)


def call_known_object(frame: Frame, callee: KnownObject, call: Call) -> Value:
    if callee.role != INSTALLED:
        return dispatch.call_role(frame, callee, call)
    followed = follow_made(frame, callee.detail, call.named(""))
    return followed if followed is not None else call_unknown(frame, call)


def call_host(frame: Frame, callee: Host, call: Call) -> Value:
    return ANY_HOST if callee is ANY_HOST else call_unknown(frame, call)


def call_one_of(frame: Frame, callee: Union, call: Call) -> Value:
    """One of several. Where they are ops to choose from, what not all of them cost is only possible."""
    parts = [part for part in callee.alternatives if part is not NONE]
    if len(parts) < 2 or not all(type(part) in (Namespace, Partial, Module) for part in parts):
        return alike([apply(frame, part, call) for part in parts])
    key, events = (call.node.at, ""), frame.record.events
    before, found, values = events.pop(key, None), [], []
    for part in parts:
        values.append(apply(frame, part, call))
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
    return type(value) is KnownObject and value.role == Role.OUTPUT


def call_function(frame: Frame, callee: Function, call: Call) -> Value:
    name = callee.ir.name
    guard = guards().calls.get(name)
    if guard is not None:
        return constant(guard)
    known = call_version(frame, name, call.arguments) or dispatch.known_function(frame, callee, call)
    if known is not None:
        return known
    if name in frame.engine.assumptions.host_functions:
        return ANY_HOST
    if name in frame.engine.assumptions.boundaries:
        frame.boundary(call.node.at)
    if callee.ir.decorators and is_turned_off(decorator_names(callee.ir)):
        check_break(frame, name, call.node)
    if callee.captured or callee.ir.free:
        callee = members.as_of_now(frame, callee)
    answer = frame.engine.call(frame, callee, call.arguments, call.keywords, call.node.at)
    if answer.writes and callee.receiver is not None:
        apply_writes(frame, call.node.function, callee.receiver, answer.writes)
    if answer.given[0] or answer.given[1]:
        first = len(callee.bound) + (callee.receiver is not None)
        leave_in_arguments(frame, callee.ir, first, call, answer.given)
    frame.after_call(answer)
    return read_again(frame, answer.value, call.arguments)


def apply_writes(frame: Frame, function: ir.Expr, receiver: Value, writes: dict[str, Value]) -> None:
    """What a method leaves in its object, the caller sees afterwards."""
    holder = function.value if type(function) is ir.Attribute else None
    if holder is not None and (type(receiver) is Struct or (type(holder) is ir.Name and holder.name == "self")):
        leave_fields(frame, holder, receiver, writes)


def call_object(frame: Frame, callee: Instance | Struct, call: Call) -> Value:
    """``module(x)`` is ``forward``; another object's call is ``__call__``."""
    program = frame.engine.program
    cls = callee.ir
    is_module = members.is_module_class(frame, cls)
    if is_module:
        frame.sign(SignKind.MODEL_CALL, call.node.at)
    method = program.method(cls, "forward") if is_module else program.method(cls, "__call__")
    method = method or program.method(cls, "forward") or program.method(cls, "__call__")
    if method is not None:
        answer = frame.engine.call(frame, function_value(method, callee), call.arguments, call.keywords, call.node.at)
        if type(callee) is Struct:
            apply_writes(frame, ir.Attribute(call.node.function, "__call__", call.node.at), callee, answer.writes)
        frame.after_call(answer)
        return answer.value
    base = next((b for b in program.external_bases(cls) if b.startswith("torch.nn.")), None)
    if base is not None:
        return modules.call_module(frame, module_value(base), call)
    return call_unknown(frame, call)


def call_bound(frame: Frame, callee: Bound, call: Call) -> Value:
    guard = guards().calls.get(callee.name)
    if guard is not None:
        return constant(guard)
    handler = dispatch.RECEIVERS.get(type(callee.receiver), call_unknown_method)
    return handler(frame, callee.receiver, call.named(callee.name))


def call_external(frame: Frame, call: Call) -> Value:
    if call.name.startswith("builtins."):
        return builtins.call_builtin(frame, call.named(call.name[9:]))
    table = guards().calls
    guard = table.get(call.name, table.get(call.last))
    if guard is not None:
        dispatch.note_external(frame, call)
        return constant(guard)
    known = call_version(frame, call.name, call.arguments) or dispatch.call_library(frame, call)
    if known is not None:
        return known
    if call.name.startswith("torch."):
        return functions.call_torch(frame, call)
    followed = follow_call(frame, call)
    return followed if followed is not None else call_unknown(frame, call)


CALLEES: dict[type[Value], Callable[[Frame, Any, Call], Value]] = {
    Bound: call_bound,
    Namespace: call_namespace,
    Partial: call_partial,
    Function: call_function,
    Class: construct,
    Instance: call_object,
    Struct: call_object,
    Module: modules.call_module,
    KnownObject: call_known_object,
    Union: call_one_of,
    Host: call_host,
}
"""Who answers for the call of a value of each type; what is missing is unknown."""
