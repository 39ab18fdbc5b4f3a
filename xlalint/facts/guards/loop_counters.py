"""Numbers that a loop itself changes: ``step += 1``. Before the first round they are as unknown as after it."""

from __future__ import annotations

from xlalint.facts.domain import domain as d
from xlalint.facts.state.environment import Environment
from xlalint.facts.state.frame import Frame
from xlalint.program import ir
from xlalint.program.def_use import counted_paths


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
