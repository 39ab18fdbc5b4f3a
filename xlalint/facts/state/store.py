"""Stores: a new value for the name or attribute that holds an object."""

from __future__ import annotations

from xlalint.facts.domain.lattice import join_maybe
from xlalint.facts.domain.values import Value
from xlalint.facts.state.frame import Frame
from xlalint.program import ir
from xlalint.program.traversal import receiver_node


def keep(frame: Frame, node: ir.Call, value: Value) -> None:
    """Store what a method makes of its container; a name from outside of the function keeps what it held."""
    holder = receiver_node(node)
    if holder is not None and (type(holder) is not ir.Name or holder.name in frame.env):
        store(frame, holder, value)


def store(frame: Frame, holder: ir.Expr, value: Value) -> None:
    """Store a container's new value under the name that holds it."""
    if type(holder) is ir.Name:
        frame.env[holder.name] = value
        if is_own_parameter(frame, holder.name):
            frame.filled.add(holder.name)
    elif type(holder) is ir.Attribute and type(holder.value) is ir.Name and holder.value.name == "self":
        frame.env[f"self.{holder.name}"] = value
        frame.writes[holder.name] = join_maybe(frame.writes.get(holder.name), value) or value


def is_own_parameter(frame: Frame, name: str) -> bool:
    """Whether a name still holds what the function was given."""
    return name not in frame.origins and any(parameter.name == name for parameter in frame.function.parameters)
