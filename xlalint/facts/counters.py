"""Numbers that a loop itself changes: ``step += 1``. Before the first round they are as unknown as after it."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from functools import lru_cache

from xlalint.facts import domain as d
from xlalint.facts.frame import Environment, Frame
from xlalint.facts.narrowing import path_of
from xlalint.program import ir


def forget_first_values(frame: Frame, loop: ir.For | ir.While) -> tuple[tuple[str, d.Host, d.Value], ...]:
    """A counter's value at the loop's start says nothing of the tests in its body. Gives each path, its value, and what
    now stands there."""
    environment, forgotten = frame.env, []
    for path in counted_paths(loop):
        value = environment.get(path)
        if type(value) is d.Host and value.known and value.type in ("int", "float"):
            environment[path] = unknown = d.host(value.type, varies=frame.loop_key(), paid=value.paid)
            forgotten.append((path, value, unknown))
    return tuple(forgotten)


def remember_starts(environment: Environment, forgotten: tuple[tuple[str, d.Host, d.Value], ...]) -> None:
    """What tensors are added to is no counter, but a sum, and its number is where that starts."""
    for path, first, unknown in forgotten:
        parts = d.alternatives(environment.get(path, d.UNKNOWN))
        if unknown in parts and any(type(part) is d.Tensor for part in parts):
            environment[path] = d.union([first if part is unknown else part for part in parts])


@lru_cache(maxsize=8192)
def counted_paths(loop: ir.For | ir.While) -> tuple[str, ...]:
    return tuple(dict.fromkeys(counted(loop.body)))


def counted(block: ir.Block) -> Iterator[str]:
    for statement in block:
        if type(statement) is ir.Augmented:
            path = path_of(statement.target) if statement.operator in ("add", "sub") else None
            if path is not None:
                yield path
        elif type(statement) is ir.Assign and type(statement.value) is ir.Binary and len(statement.targets) == 1:
            path = path_of(statement.targets[0])
            if path is not None and path == path_of(statement.value.left):
                yield path
        else:
            for inner in blocks_of(statement):
                yield from counted(inner)


def targets_of(loop: ir.For) -> frozenset[str]:
    targets = loop.target.elements if type(loop.target) is ir.Display else (loop.target,)
    return frozenset(target.name for target in targets if type(target) is ir.Name)


@lru_cache(maxsize=8192)
def steps_each(loop: ir.For) -> bool:
    """``for optimizer in optimizers: optimizer.step()``: a part of a step."""
    names = targets_of(loop)
    functions = [call.function for call in calls_in(loop.body)]
    methods = [function for function in functions if type(function) is ir.Attribute and function.name == "step"]
    return any(type(method.value) is ir.Name and method.value.name in names for method in methods)


@lru_cache(maxsize=8192)
def hands_on(loop: ir.For) -> bool:
    """Whether the loop's body calls something else with what the loop iterates: ``for batch in data: model(batch)``."""
    names = targets_of(loop)
    return bool(names) and any(map(functools.partial(is_given, names), calls_in(loop.body)))


def is_given(names: frozenset[str], call: ir.Call) -> bool:
    function = call.function
    while isinstance(function, (ir.Attribute, ir.Subscript)):
        function = function.value
    own = type(function) is ir.Name and function.name in names
    return not own and any(type(part) is ir.Name and part.name in names for part in call.arguments)


def calls_in(block: ir.Block) -> Iterator[ir.Call]:
    """The calls that whole statements make."""
    for statement in block:
        value = getattr(statement, "value", None)
        if type(value) is ir.Call:
            yield value
        for inner in blocks_of(statement):
            yield from calls_in(inner)


def blocks_of(statement: ir.Stmt) -> tuple[ir.Block, ...]:
    if type(statement) in (ir.If, ir.For, ir.While):
        return (statement.body, statement.orelse)  # type: ignore[union-attr]
    if type(statement) is ir.With:
        return (statement.body,)
    if type(statement) is ir.Try:
        return (statement.body, *(block for _, block in statement.handlers), statement.orelse, statement.final)
    if type(statement) is ir.Match:
        return tuple(block for _, _, block in statement.cases)
    return ()
