"""Placement of tensors: whether anything but a signature puts them on the device."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from xlalint.facts.domain.lattice import sequence
from xlalint.facts.domain.role import Role
from xlalint.facts.domain.values import (
    HOST,
    KNOWN,
    TENSOR_ROLES,
    UNKNOWN,
    XLA,
    Host,
    KnownObject,
    Mapping,
    Module,
    Sequence,
    Tensor,
    Union,
    Value,
    known_object,
    mapping,
    tensor_of,
)
from xlalint.facts.operations.modules_on_host import modules_on_host
from xlalint.facts.state.frame import Frame
from xlalint.facts.state.reaching import assignment_of
from xlalint.knowledge.tables import frameworks
from xlalint.program import ir
from xlalint.program.def_use import iterated_by
from xlalint.program.traversal import holders, names_in

MOVING = frozenset({"to", "cuda"})


def is_as_given(frame: Frame, node: ir.Expr | None) -> bool:
    """Whether a value comes from a parameter that no call in sight gives: what is handed to numpy lies on the host
    then, or the program would run on no accelerator. What a framework calls is given device tensors."""
    if frameworks().get("entry", frame.function.name) is not None or not frame.given_by_signature():
        return False
    roots = roots_of(frame, node)
    values = [frame.env.get(name, UNKNOWN) for name in roots]
    return any(type(value) is not Module for value in values) and not any(type(v) is Module for v in values)


def roots_of(frame: Frame, node: ir.Expr | None) -> frozenset[str]:
    """The parameters that an expression is computed from, through the assignments on the way."""
    parameters = {p.name for p in frame.function.parameters}
    pending, seen = list(names_in(node, MOVING)), set()
    roots: set[str] = set()
    while pending:
        name = pending.pop()
        if name in seen:
            continue
        seen.add(name)
        assigned = assignment_of(frame, name)
        used = used_by(frame, name) if assigned is None else list(names_in(assigned.value, MOVING))
        if name in used and name in parameters:
            roots.add(name)
        pending.extend(used)
    return frozenset(roots)


def used_by(frame: Frame, name: str) -> list[str]:
    """What a name that no assignment binds is computed from: what it is an element of, or itself."""
    iterables = iterated_by(frame.function).get(name)
    return [name] if iterables is None else [used for one in iterables for used in names_in(one, MOVING)]


def made_on_host(value: Value) -> Value:
    """The same with its tensors on the host, where torch makes them if nobody names another device."""
    return with_tensors(value, lambda one: one.but(device=HOST))


def lies_on_host(given: Iterable[Value]) -> bool:
    """Whether some of the tensors that are given are known to lie on the host, and none on the device: what is only
    assumed of the others lies there, too."""
    devices = {value.device for value in given if type(value) is Tensor}
    return HOST in devices and XLA not in devices


def unmoved(value: Value) -> Value:
    """A batch of which a part is moved to the device: what nobody knows to lie there lies on the host till then."""
    return with_tensors(value, lambda one: one.but(device=HOST) if one.device is None else one)


def with_tensors(value: Value, changed: Callable[[Tensor], Tensor]) -> Value:
    """The same with each of its tensors changed."""
    if type(value) is Tensor:
        return changed(value)
    if type(value) is Sequence and value.elements is not None:
        return sequence(value.kind, [with_tensors(part, changed) for part in value.elements])
    if type(value) is Sequence:
        return sequence(value.kind, None, with_tensors(value.element, changed))
    if type(value) is Mapping:
        rest = None if value.rest is None else with_tensors(value.rest, changed)
        return mapping(tuple((key, with_tensors(part, changed)) for key, part in value.items), rest)
    if type(value) is KnownObject and value.role in GIVEN_BY_MODULES and value.element is not None:
        return known_object(value.role, with_tensors(value.element, changed), value.detail)
    return value


GIVEN_BY_MODULES = TENSOR_ROLES | {Role.PARAMETERS}


def given_by(frame: Frame, node: ir.Expr, value: Value, arguments: Iterable[Value] = ()) -> Value:
    """What a module gives, or a part of it: on the host where it was made there and stays, unless what it is given
    lies on the device and so shows that it does not."""
    on_host = frame.on_host
    if on_host is None:
        on_host = frame.on_host = modules_on_host(frame.function, frame.engine.program)
    if not on_host:
        return value
    *way, start = holders(node)
    if type(start) is not ir.Name or start.name not in on_host or any(type(part) is ir.Call for part in way):
        return value
    if any(map(lies_on_device, arguments)):
        return value
    return made_on_host(value)


def lies_on_device(value: Value) -> bool:
    known = tensor_of(value)
    return known is not None and known.device == XLA and known.certainty == KNOWN


def tells_no_device(value: Value) -> bool:
    """Whether a value is known to be made of numbers, words and tensors of the host alone, and names no device."""
    if type(value) is Tensor:
        return value.device == HOST
    if type(value) is Sequence:
        return all(map(tells_no_device, value.elements if value.elements is not None else (value.element,)))
    if type(value) is Mapping:
        return all(tells_no_device(part) for _, part in value.items) and (not value.rest or tells_no_device(value.rest))
    if type(value) is Union:
        return all(map(tells_no_device, value.alternatives))
    return type(value) is Host and value.type in HOST_TYPES


HOST_TYPES = frozenset({"int", "float", "bool", "str", "none", "bytes", "numpy"})
