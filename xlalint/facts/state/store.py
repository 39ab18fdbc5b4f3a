"""Stores: a new value for the name or attribute that holds an object."""

from __future__ import annotations

from typing import Any

from xlalint.facts.domain.lattice import join, join_maybe, sequence
from xlalint.facts.domain.values import Host, Mapping, Sequence, Value, mapping
from xlalint.facts.state.frame import Frame
from xlalint.program import ir
from xlalint.program.traversal import called_name, receiver_node


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
    elif type(holder) is ir.Subscript:
        store_entry(frame, holder.value, holder.index, value)
    elif type(holder) is ir.Call and called_name(holder) == "setdefault" and holder.arguments:
        container = receiver_node(holder)
        if container is not None:
            store_entry(frame, container, holder.arguments[0], value)


def store_entry(frame: Frame, container: ir.Expr, index: ir.Expr, value: Value) -> None:
    """``table[key].append(x)``: what an entry holds from here on. Under a key that nobody knows, it may be any."""
    frame.quiet += 1
    held, key = frame.evaluate(container), frame.evaluate(index)
    frame.quiet -= 1
    if type(held) is Mapping:
        known = key.constant if type(key) is Host and key.known else NO_KEY
        items = dict(held.items)
        if known is not NO_KEY and (known in items or held.rest is None):
            store(frame, container, mapping(tuple({**items, known: value}.items()), held.rest))
        elif type(value) in (Sequence, Mapping):
            grown = tuple((k, join(v, value) if type(v) is type(value) else v) for k, v in held.items)
            store(frame, container, mapping(grown, join_maybe(held.rest, value)))
    elif type(held) is Sequence and type(value) is Sequence and held.elements != ():
        store(frame, container, sequence(held.kind, None, join(held.element, value)))


NO_KEY: Any = object()


def is_own_parameter(frame: Frame, name: str) -> bool:
    """Whether a name still holds what the function was given."""
    return name not in frame.origins and any(parameter.name == name for parameter in frame.function.parameters)
