"""Guards on optional inputs and non-default modes: they are assumed to hold rarely.

A model that takes images and videos is given images far more often; what a parameter is compared with, and what isn't
its default, is asked for by few.
"""

from __future__ import annotations

import functools

from xlalint.knowledge.tables import frameworks
from xlalint.program import ir
from xlalint.program.traversal import names_in


def holds_seldom(function: ir.FunctionIR, test: ir.Expr, outcome: bool) -> bool:
    """Whether a test of which nothing is known has this outcome for few."""
    return (outcome and asks_for_another(function, test)) or asks_for_other_input(function, test)


def asks_for_another(function: ir.FunctionIR, test: ir.Expr) -> bool:
    """``zero_division == "warn"``, where the default is another constant."""
    if type(test) is not ir.Compare or test.operators != ("eq",) or type(test.left) is not ir.Name:
        return False
    literal = test.rights[0]
    if type(literal) is not ir.Constant or literal.value is None:
        return False
    default = next((one.default for one in function.parameters if one.name == test.left.name), None)
    return type(default) is ir.Constant and default.value is not None and default.value != literal.value


def asks_for_other_input(function: ir.FunctionIR, test: ir.Expr) -> bool:
    """``pixel_values_videos is not None`` in a function that takes images, too."""
    return takes_inputs(function) and names_other_input(test)


@functools.cache
def names_other_input(test: ir.Expr) -> bool:
    return any(is_of("other-input", name) for name in names_in(test))


@functools.cache
def takes_inputs(function: ir.FunctionIR) -> bool:
    names = (parameter.name for parameter in function.parameters)
    return any(is_of("input", name) and not is_of("other-input", name) for name in names)


@functools.cache
def is_of(kind: str, name: str) -> bool:
    """Whether one of the words of a name tells the kind of input."""
    words = name.lower().split("_")
    return not frameworks().names(kind).isdisjoint(words)
