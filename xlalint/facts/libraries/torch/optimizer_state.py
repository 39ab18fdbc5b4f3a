"""Optimizer state for each parameter: ``state = self.state[p]``, by what the optimizer's methods put there.

The first step fills the state and each later one reads it, so a key holds in all of them what some statement of the
class puts there: ``state["exp_avg"] = torch.zeros_like(p)``.
"""

from __future__ import annotations

import functools

from xlalint.facts.domain.lattice import join_all
from xlalint.facts.domain.role import Role
from xlalint.facts.domain.values import NONE, UNKNOWN, Host, Value, host, mapping
from xlalint.facts.state.frame import Frame
from xlalint.program import ir
from xlalint.program.traversal import walk

ROLE = Role.OPTIMIZER_STATE
Stores = dict[str, tuple[ir.Expr, ...]]


def state_of_parameter(frame: Frame) -> Value:
    """A dict of what is known; what is put there by others is unknown."""
    cls = frame.engine.program.owner(frame.function)
    if cls is None:
        return UNKNOWN
    frame.quiet += 1
    items = [(key, join_all([kept(frame, one) for one in stored])) for key, stored in sorted(stores_of(cls).items())]
    frame.quiet -= 1
    return mapping(tuple(items), UNKNOWN)


def kept(frame: Frame, node: ir.Expr) -> Value:
    """A number is counted up from where it starts."""
    value = frame.evaluate(node)
    return host(value.type) if type(value) is Host and value is not NONE else value


@functools.cache
def stores_of(cls: ir.ClassIR) -> Stores:
    found: Stores = {}
    for method in cls.methods.values():
        names = {parameter.name for parameter in method.parameters if parameter.name == "state"}
        for node in walk(method.body):
            if type(node) is ir.Assign:
                names |= names_of_states(node)
                for key, value in stored_by(node, names):
                    found[key] = (*found.get(key, ()), value)
    return found


def names_of_states(node: ir.Assign) -> set[str]:
    """``state = self.state[p]``."""
    value = node.value
    if type(value) is not ir.Subscript or type(value.value) is not ir.Attribute or value.value.name != "state":
        return set()
    return {target.name for target in node.targets if type(target) is ir.Name}


def stored_by(node: ir.Assign, names: set[str]) -> list[tuple[str, ir.Expr]]:
    """``state["step"] = 0``."""
    return [
        (str(target.index.value), node.value)
        for target in node.targets
        if type(target) is ir.Subscript
        and type(target.value) is ir.Name
        and target.value.name in names
        and type(target.index) is ir.Constant
        and isinstance(target.index.value, str)
    ]
