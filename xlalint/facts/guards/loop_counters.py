"""Counters: numbers that a loop itself changes, such as ``step += 1``, are unknown in all of its iterations; those that
a method counts in its object, such as ``self.step += 1``, vary with its calls."""

from __future__ import annotations

from xlalint.facts.domain.lattice import union
from xlalint.facts.domain.values import UNKNOWN, Host, Tensor, Value, alternatives, host
from xlalint.facts.domain.variation import counted_in
from xlalint.facts.state.environment import Environment
from xlalint.facts.state.frame import Frame
from xlalint.program import ir
from xlalint.program.def_use import counted_attributes, counted_paths


def forget_first_values(frame: Frame, loop: ir.For | ir.While) -> tuple[tuple[str, Host, Value], ...]:
    """A counter's value at the loop's start says nothing of the tests in its body. Gives each path, its value, and what
    now stands there."""
    environment, forgotten = frame.env, []
    for path in counted_paths(loop):
        value = environment.get(path)
        if type(value) is Host and value.known and value.type in ("int", "float"):
            environment[path] = unknown = host(
                value.type, varies=frame.loop_key(), read_from_device=value.read_from_device
            )
            forgotten.append((path, value, unknown))
    return tuple(forgotten)


def remember_starts(environment: Environment, forgotten: tuple[tuple[str, Host, Value], ...]) -> None:
    """What tensors are added to is no counter, but a sum, and its number is where that starts."""
    for path, first, unknown in forgotten:
        parts = alternatives(environment.get(path, UNKNOWN))
        if unknown in parts and any(type(part) is Tensor for part in parts):
            environment[path] = union([first if part is unknown else part for part in parts])


def as_own_counter(frame: Frame, target: ir.Expr, value: Value) -> Value:
    """``self.step += 1`` in a method: another number each time it runs, unless a step sets it back."""
    if type(value) is not Host or value.type not in ("int", "float") or value.varies is not None:
        return value
    if type(target) is not ir.Attribute or type(target.value) is not ir.Name or target.value.name != "self":
        return value
    function = frame.function
    if function.name == "__init__" or target.name not in counted_attributes(function):
        return value
    resetting = setting_back(frame, target.name)
    if resetting is None:
        return value
    key = counted_in(frame.path, function.qualname, frame.region[1], resetting)
    return host(value.type, varies=key, read_from_device=value.read_from_device)


def setting_back(frame: Frame, name: str) -> tuple[str, ...] | None:
    """The methods that give a counter another value, by qualified name; None where one stands in another file."""
    program = frame.engine.program
    owner = program.owner(frame.function)
    found: list[ir.FunctionIR] = []
    for cls in () if owner is None else program.mro(owner):
        if isinstance(cls, ir.ClassIR):
            methods = [cls.methods[each] for each in cls.assigned_in.get(name, ()) if each in cls.methods]
            found += [method for method in methods if method.name != "__init__"]
    others = [method for method in found if name not in counted_attributes(method)]
    if owner is None or any(method.module != frame.function.module for method in others):
        return None
    return tuple(sorted({method.qualname for method in others}))
