"""The order of abstract values, written down apart from their joins: what says less of more."""

from __future__ import annotations

from xlalint.facts.domain.values import (
    INT,
    NONE,
    SIZE,
    UNKNOWN,
    XLA,
    Host,
    Instance,
    KnownObject,
    Mapping,
    Module,
    Sequence,
    Struct,
    Tensor,
    Union,
    Value,
)


def covers(more: Value | None, less: Value | None) -> bool:
    """Whether all that ``more`` says holds of ``less`` too; ``UNKNOWN`` says nothing."""
    if more is UNKNOWN or more is less or less is None:
        return True
    if more is None:
        return False
    if isinstance(less, Union):
        return all(covers(more, part) for part in less.alternatives)
    if isinstance(more, Union):
        return any(covers(part, less) for part in more.alternatives)
    if isinstance(more, Tensor):
        return less is NONE and more.optional if not isinstance(less, Tensor) else covers_tensor(more, less)
    if more is SIZE and isinstance(less, Sequence):
        return less.kind == "tuple" and all(covers(INT, part) for part in less.elements or ())
    if isinstance(more, Instance) and isinstance(less, Struct):
        return more.ir is less.ir
    # None stays apart from other host values.
    if type(more) is not type(less) or less is NONE:
        return False
    return covers_other(more, less)


def covers_tensor(more: Tensor, less: Tensor) -> bool:
    no_surer = more.certainty <= (min(less.certainty, 1) if more.device != less.device else less.certainty)
    device = more.device in (less.device, None) or (more.device == XLA and more.certainty < 2)
    other = more.dtype == "other" and less.dtype not in (None, "bool", "uint8")
    dims = more.dims is None or (
        less.dims is not None
        and len(more.dims) == len(less.dims)
        and all(x in (None, y) for x, y in zip(more.dims, less.dims, strict=True))
    )
    flags = more.grad >= less.grad and more.optional >= less.optional and covers_varying(more.varies, less.varies)
    return no_surer and device and (more.dtype in (None, less.dtype) or other) and dims and flags


def covers_varying(more: object, less: object) -> bool:
    """What changes in some loop is not known to stand still; in which loop is told, and is no knowledge."""
    return more is not None or less is None


def covers_other(more: Value, less: Value) -> bool:
    if isinstance(more, Host) and isinstance(less, Host):
        wider = more.type in (less.type, "?") or (more.type, less.type) == ("float", "int")
        constant = not more.known or (less.known and more.constant == less.constant and more.type == less.type)
        return (
            wider
            and constant
            and more.read_from_device >= less.read_from_device
            and covers_varying(more.varies, less.varies)
        )
    if isinstance(more, Sequence) and isinstance(less, Sequence):
        if more.elements is None:
            return less.elements == () or covers(more.element, less.element)
        if less.elements is None or len(more.elements) != len(less.elements):
            return False
        return all(covers(x, y) for x, y in zip(more.elements, less.elements, strict=True))
    if isinstance(more, Mapping) and isinstance(less, Mapping):
        return all(covers(more.get(key), value) for key, value in less.items) and covers(more.rest, less.rest)
    if isinstance(more, Struct) and isinstance(less, Struct):
        return more.ir is less.ir and all(covers(more.get(name), value) for name, value in less.fields)
    if isinstance(more, Module) and isinstance(less, Module):
        costs = more.costs is not None or less.costs is None
        return more.name == less.name and covers(more.elements, less.elements) and costs
    if isinstance(more, KnownObject) and isinstance(less, KnownObject):
        detail = more.detail in (None, "boundary", less.detail)
        return more.role == less.role and covers(more.element, less.element) and detail
    return False
