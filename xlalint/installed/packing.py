"""Serialises abstract values for queries about a library, and for their results.

What belongs to the asking program alone (its classes, functions and loops) is left out: such a value is unknown there.
"""

from __future__ import annotations

from typing import Any

from xlalint.facts.domain.lattice import sequence, union
from xlalint.facts.domain.role import Role
from xlalint.facts.domain.values import (
    NO_CONSTANT,
    NONE,
    UNKNOWN,
    Host,
    KnownObject,
    Mapping,
    Module,
    Namespace,
    Sequence,
    Tensor,
    Union,
    Value,
    host,
    known_object,
    mapping,
    module_value,
    namespace,
    of_rank,
    tensor,
)

Packed = Any
"""Lists, words and numbers: what JSON can hold."""
SIMPLE = (bool, int, float, str)


def pack(value: Value) -> Packed:
    """The value without the loop that changes it, and without the sizes of its dimensions."""
    if isinstance(value, Tensor):
        rank = None if value.dims is None else len(value.dims)
        return ["tensor", value.device, value.dtype, rank, value.grad, value.certainty, value.optional]
    if isinstance(value, Host):
        if value is NONE:
            return ["none"]
        if value.known and (value.type == "device" or type(value.constant) in SIMPLE):
            return ["host", value.type, value.read_from_device, value.constant]
        return ["host", value.type, value.read_from_device]
    if isinstance(value, Sequence):
        if value.elements is not None:
            return ["sequence", value.kind, [pack(part) for part in value.elements]]
        return ["sequence of", value.kind, pack(value.element)]
    if isinstance(value, Mapping):
        items = [[key, pack(part)] for key, part in value.items if type(key) in SIMPLE]
        rest = value.rest if len(items) == len(value.items) else UNKNOWN
        return ["mapping", items, None if rest is None else pack(rest)]
    if isinstance(value, Union):
        return ["union", [pack(part) for part in value.alternatives]]
    return pack_object(value)


def pack_object(value: Value) -> Packed:
    if isinstance(value, Module):
        return ["module", value.name, value.costs, value.given]
    if isinstance(value, KnownObject):
        return ["role", value.role.value, None if value.element is None else pack(value.element), value.detail]
    if isinstance(value, Namespace) and value.path is None:
        return ["namespace", value.name]
    return ["unknown"]


def unpack(packed: Packed) -> Value:
    kind, *rest = packed
    if kind == "tensor":
        device, dtype, rank, grad, certainty, optional = rest
        return tensor(device, dtype, of_rank(rank), grad, None, certainty, optional)
    if kind == "none":
        return NONE
    if kind == "host":
        name, read_from_device, *constant = rest
        return host(name, constant[0] if constant else NO_CONSTANT, None, read_from_device)
    if kind == "sequence":
        return sequence(rest[0], [unpack(part) for part in rest[1]])
    if kind == "sequence of":
        return sequence(rest[0], None, unpack(rest[1]))
    if kind == "mapping":
        return mapping(
            tuple((key, unpack(part)) for key, part in rest[0]), None if rest[1] is None else unpack(rest[1])
        )
    if kind == "union":
        return union([unpack(part) for part in rest[0]])
    return unpack_object(kind, rest)


def unpack_object(kind: str, rest: list[Packed]) -> Value:
    if kind == "module":
        name, costs, given = rest
        return module_value(name, None, costs, given)
    if kind == "role":
        name, element, detail = rest
        return known_object(Role(name), None if element is None else unpack(element), detail)
    return namespace(rest[0]) if kind == "namespace" else UNKNOWN
