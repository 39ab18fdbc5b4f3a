"""Abstract values as plain data: what goes into a question about a library, and what comes back of it.

What belongs to the asking program alone (its classes, functions and loops) is left out: such a value is unknown there.
"""

from __future__ import annotations

from typing import Any

from xlalint.facts.domain import domain as d

Packed = Any
"""Lists, words and numbers: what JSON can hold."""
SIMPLE = (bool, int, float, str)


def pack(value: d.Value) -> Packed:
    """The value without the loop that changes it, and without the sizes of its dimensions."""
    if isinstance(value, d.Tensor):
        rank = None if value.dims is None else len(value.dims)
        return ["tensor", value.device, value.dtype, rank, value.grad, value.certainty, value.optional]
    if isinstance(value, d.Host):
        if value is d.NONE:
            return ["none"]
        if value.known and (value.type == "device" or type(value.constant) in SIMPLE):
            return ["host", value.type, value.paid, value.constant]
        return ["host", value.type, value.paid]
    if isinstance(value, d.Sequence):
        if value.elements is not None:
            return ["sequence", value.kind, [pack(part) for part in value.elements]]
        return ["sequence of", value.kind, pack(value.element)]
    if isinstance(value, d.Mapping):
        items = [[key, pack(part)] for key, part in value.items if type(key) in SIMPLE]
        rest = value.rest if len(items) == len(value.items) else d.UNKNOWN
        return ["mapping", items, None if rest is None else pack(rest)]
    if isinstance(value, d.Union):
        return ["union", [pack(part) for part in value.alternatives]]
    return pack_object(value)


def pack_object(value: d.Value) -> Packed:
    if isinstance(value, d.Module):
        return ["module", value.name, value.costs, value.given]
    if isinstance(value, d.Role):
        return ["role", value.role, None if value.element is None else pack(value.element), value.detail]
    if isinstance(value, d.Namespace) and value.path is None:
        return ["namespace", value.name]
    return ["unknown"]


def unpack(packed: Packed) -> d.Value:
    kind, *rest = packed
    if kind == "tensor":
        device, dtype, rank, grad, certainty, optional = rest
        return d.tensor(device, dtype, d.of_rank(rank), grad, None, certainty, optional)
    if kind == "none":
        return d.NONE
    if kind == "host":
        name, paid, *constant = rest
        return d.host(name, constant[0] if constant else d.NO_CONSTANT, None, paid)
    if kind == "sequence":
        return d.sequence(rest[0], [unpack(part) for part in rest[1]])
    if kind == "sequence of":
        return d.sequence(rest[0], None, unpack(rest[1]))
    if kind == "mapping":
        return d.mapping(
            tuple((key, unpack(part)) for key, part in rest[0]), None if rest[1] is None else unpack(rest[1])
        )
    if kind == "union":
        return d.union([unpack(part) for part in rest[0]])
    return unpack_object(kind, rest)


def unpack_object(kind: str, rest: list[Packed]) -> d.Value:
    if kind == "module":
        name, costs, given = rest
        return d.module(name, None, costs, given)
    if kind == "role":
        name, element, detail = rest
        return d.role(name, None if element is None else unpack(element), detail)
    return d.namespace(rest[0]) if kind == "namespace" else d.UNKNOWN
