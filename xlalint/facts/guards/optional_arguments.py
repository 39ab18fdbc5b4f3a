"""Optional arguments: which parameters a call passes, and whether any of them is data."""

from __future__ import annotations

import functools

from xlalint.facts.domain.values import NONE, NUMPY, UNKNOWN, Class, Function, Host, Module, Sequence, Union, Value
from xlalint.facts.state.environment import Names
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.tables import frameworks
from xlalint.program import ir
from xlalint.program.traversal import none_tested


def is_given_no_data(function: ir.FunctionIR, environment: Names, receiver: Value | None) -> bool:
    """Whether all that the function is given are models, settings and functions."""
    given = function.parameters[0 if receiver is None else 1 :]
    return all(
        holds_none(environment[parameter.name]) or is_setting(function, parameter, environment[parameter.name])
        for parameter in given
    )


def is_setting(function: ir.FunctionIR, parameter: ir.Parameter, value: Value) -> bool:
    """``index``, ``flags`` of the entry of a process, where nothing tells otherwise."""
    return not function.owner and value is UNKNOWN and parameter.name in frameworks().names("rank-parameter")


def holds_none(value: Value) -> bool:
    if isinstance(value, Union):
        return all(map(holds_none, value.alternatives))
    if isinstance(value, Sequence):
        return holds_none(value.element) and all(map(holds_none, value.elements or ()))
    if isinstance(value, Host):
        return value is not NUMPY
    return isinstance(value, (Module, Function, Class))


@functools.cache
def optional_parameters(function: ir.FunctionIR) -> tuple[tuple[str, int], ...]:
    """The parameters that are ``None`` unless they are given, each with its position."""
    return tuple(
        (parameter.name, position)
        for position, parameter in enumerate(function.parameters)
        if type(parameter.default) is ir.Constant and parameter.default.value is None
    )


def optional_given(function: ir.FunctionIR, environment: Names) -> tuple[int, ...]:
    """The positions of the optional parameters that a call gives, or may give."""
    return tuple([position for name, position in optional_parameters(function) if environment[name] is not NONE])


def found_given(frame: Frame, test: ir.Expr, outcome: bool) -> int | None:
    """The position of the optional parameter that a test with this outcome finds given by the call."""
    asked = none_tested(test)
    if asked is None or asked[1] == outcome or frame.by_signature or asked[0] in frame.origins:
        return None
    return next((position for name, position in optional_parameters(frame.function) if name == asked[0]), None)
