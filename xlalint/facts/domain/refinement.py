"""Refinements of a value: as an op's operand, without gradients, without None, at most so certain."""

from __future__ import annotations

from functools import cache

from xlalint.facts.domain.lattice import (
    sequence,
    union,
)
from xlalint.facts.domain.role import Role
from xlalint.facts.domain.values import (
    NONE,
    TENSOR_ROLES,
    UNKNOWN,
    KnownObject,
    Mapping,
    Sequence,
    Tensor,
    Union,
    Value,
    known_object,
    mapping,
)


def as_operand(value: Value) -> Value:
    """A value as the operand of a torch op: that proves what has such a role to be a tensor."""
    if type(value) is KnownObject and value.role in TENSOR_ROLES and type(value.element) is Tensor:
        return value.element
    return value


def without_gradient(value: Value) -> Value:
    """The same as it is made under ``no_grad``."""
    if type(value) is Tensor:
        return value.but(grad=False) if value.grad else value
    if type(value) is KnownObject and value.role in TENSOR_ROLES and value.element is not None:
        return known_object(value.role, without_gradient(value.element), value.detail)
    if type(value) is Sequence:
        if value.elements is not None:
            return sequence(value.kind, [without_gradient(part) for part in value.elements])
        return sequence(value.kind, None, without_gradient(value.element))
    return value


def with_gradient(value: Value) -> Value:
    """The same as it is where gradients flow through it."""
    if type(value) is Tensor:
        return value.but(grad=True)
    if type(value) is Sequence and value.elements is not None:
        return sequence(value.kind, [with_gradient(part) for part in value.elements])
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
    if type(value) is KnownObject and value.role == Role.PARAMETERS and value.element is not None:
        return known_object(value.role, at_most(value.element, certainty), value.detail)
    return value


@cache
def without_none(value: Value) -> Value:
    if type(value) is Tensor:
        return value.but(optional=False) if value.optional else value
    if type(value) is Union:
        return union([part for part in value.alternatives if part is not NONE] or [UNKNOWN])
    return UNKNOWN if value is NONE else value
