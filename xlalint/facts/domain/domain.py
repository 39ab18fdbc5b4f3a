"""The lattice of abstract values, as the rest of the engine names it: values, how they join (``joins``), and what is
asked of them.
"""

from __future__ import annotations

from functools import cache

from xlalint.facts.domain.lattice import (
    MASKS,
    add_alternative,
    field_key,
    join,
    join_costs,
    join_details,
    join_dims,
    join_dtypes,
    join_entries,
    join_hosts,
    join_mappings,
    join_maybe,
    join_records,
    join_sequences,
    join_tensors,
    join_varies,
    joins,
    order_key,
    sequence,
    union,
)
from xlalint.facts.domain.values import (
    ANY_DEVICE,
    ANY_HOST,
    BOOL,
    DATA,
    DTYPE,
    FALSE,
    FLOAT,
    HOST,
    HOST_DEVICE,
    INFINITE,
    INT,
    INTEGRAL,
    LIKELY_HOST_DEVICE,
    LONGEST,
    MAX_ELEMENTS,
    MAX_UNION,
    NO_CONSTANT,
    NONE,
    NUMPY,
    OBJECT,
    PAID,
    ROUNDED,
    ROW,
    SIZE,
    STR,
    TENSOR_ROLES,
    TRUE,
    UNKNOWN,
    XLA,
    XLA_DEVICE,
    Bound,
    Class,
    Function,
    Host,
    Instance,
    LoopKey,
    Mapping,
    Module,
    Namespace,
    Record,
    Role,
    Sequence,
    Super,
    Tensor,
    Union,
    Unknown,
    Value,
    alternatives,
    bound,
    cls,
    constant,
    function,
    host,
    instance,
    is_guess,
    is_start,
    mapping,
    module,
    namespace,
    of_rank,
    record,
    role,
    super_of,
    surely_tensor,
    tensor,
    tensor_of,
    truth,
)

__all__ = [
    "ANY_DEVICE",
    "ANY_HOST",
    "BOOL",
    "DATA",
    "DTYPE",
    "FALSE",
    "FLOAT",
    "HOST",
    "HOST_DEVICE",
    "INFINITE",
    "INT",
    "INTEGRAL",
    "LIKELY_HOST_DEVICE",
    "LONGEST",
    "MASKS",
    "MAX_ELEMENTS",
    "MAX_UNION",
    "NONE",
    "NO_CONSTANT",
    "NUMPY",
    "OBJECT",
    "PAID",
    "ROUNDED",
    "ROW",
    "SIZE",
    "STR",
    "TENSOR_ROLES",
    "TRUE",
    "UNKNOWN",
    "XLA",
    "XLA_DEVICE",
    "Bound",
    "Class",
    "Function",
    "Host",
    "Instance",
    "LoopKey",
    "Mapping",
    "Module",
    "Namespace",
    "Record",
    "Role",
    "Sequence",
    "Super",
    "Tensor",
    "Union",
    "Unknown",
    "Value",
    "add_alternative",
    "alternatives",
    "as_operand",
    "bound",
    "cls",
    "constant",
    "field_key",
    "function",
    "host",
    "instance",
    "is_guess",
    "is_start",
    "join",
    "join_costs",
    "join_details",
    "join_dims",
    "join_dtypes",
    "join_entries",
    "join_hosts",
    "join_mappings",
    "join_maybe",
    "join_records",
    "join_sequences",
    "join_tensors",
    "join_varies",
    "joins",
    "mapping",
    "merge",
    "module",
    "namespace",
    "of_rank",
    "order_key",
    "record",
    "role",
    "sequence",
    "super_of",
    "surely_tensor",
    "tensor",
    "tensor_of",
    "truth",
    "union",
    "without_gradient",
    "without_none",
]


def as_operand(value: Value) -> Value:
    """A value as the operand of a torch op: that proves what has such a role to be a tensor."""
    if type(value) is Role and value.role in TENSOR_ROLES and type(value.element) is Tensor:
        return value.element
    return value


def without_gradient(value: Value) -> Value:
    """The same as it is made under ``no_grad``."""
    if type(value) is Tensor:
        return value.but(grad=False) if value.grad else value
    if type(value) is Role and value.role in TENSOR_ROLES and value.element is not None:
        return role(value.role, without_gradient(value.element), value.detail)
    if type(value) is Sequence:
        if value.elements is not None:
            return sequence(value.kind, [without_gradient(part) for part in value.elements])
        return sequence(value.kind, None, without_gradient(value.element))
    return value


def at_most(value: Value, certainty: int) -> Value:
    """The same, no surer than ``certainty``. What ``tuple[Tensor]`` says of all its parts is only possible: it is
    written for results whose parts are of several kinds."""
    if type(value) is Tensor:
        return value.but(certainty=min(value.certainty, certainty))
    if type(value) is Union:
        return union([at_most(part, certainty) for part in value.alternatives])
    if type(value) is Sequence and value.elements is not None:
        return sequence(value.kind, [at_most(part, certainty) for part in value.elements])
    if type(value) is Sequence:
        return sequence(value.kind, None, at_most(value.element, 0 if value.kind == "tuple" else certainty))
    if type(value) is Mapping:
        rest = None if value.rest is None else at_most(value.rest, certainty)
        return mapping(tuple((key, at_most(part, certainty)) for key, part in value.items), rest)
    return value


@cache
def without_none(value: Value) -> Value:
    if type(value) is Tensor:
        return value.but(optional=False) if value.optional else value
    if type(value) is Union:
        return union([part for part in value.alternatives if part is not NONE] or [UNKNOWN])
    return UNKNOWN if value is NONE else value
