"""Loop counters: numbers that a loop itself changes, such as ``step += 1``, are unknown in all of its iterations."""

from __future__ import annotations

from xlalint.facts.domain.lattice import union
from xlalint.facts.domain.values import UNKNOWN, Host, Tensor, Value, alternatives, host
from xlalint.facts.state.environment import Environment
from xlalint.facts.state.frame import Frame
from xlalint.program import ir
from xlalint.program.def_use import counted_paths


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
