"""What a function is given, where no call tells: the data of a step, or only models and settings."""

from __future__ import annotations

from xlalint.facts import domain as d
from xlalint.facts.frame import Environment
from xlalint.program import ir


def is_given_no_data(function: ir.FunctionIR, environment: Environment, receiver: d.Value | None) -> bool:
    """Whether all that the function is given are models, settings and functions."""
    given = function.parameters[0 if receiver is None else 1 :]
    return all(holds_none(environment[parameter.name]) for parameter in given)


def holds_none(value: d.Value) -> bool:
    kind = type(value)
    if kind is d.Union:
        return all(map(holds_none, value.alternatives))  # type: ignore[attr-defined]
    if kind is d.Sequence:
        return holds_none(value.element) and all(map(holds_none, value.elements or ()))  # type: ignore[attr-defined]
    if kind is d.Host:
        return value is not d.NUMPY
    return kind in (d.Module, d.Function, d.Class)
