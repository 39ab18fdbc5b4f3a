"""Learning: what a program does with gradients, by the calls that it makes."""

from __future__ import annotations

import functools

from xlalint.facts.domain.role import Role
from xlalint.facts.domain.values import FALSE, Class, Function, Instance, KnownObject, Struct, Value, tensor_of
from xlalint.facts.kinds import SignKind
from xlalint.facts.state.call import Call
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.tables import frameworks
from xlalint.program import ir
from xlalint.program.traversal import called_name, last_name, receiver_node

IN_SIGHT = frozenset({Function, Class, Instance, Struct})
"""What the program defines itself: it is read for what it does."""


def note_learning(frame: Frame, callee: Value, call: Call) -> None:
    """``optimizer.zero_grad()``, ``loss_scaler(loss, optimizer)``."""
    name = called_name(call.node)
    if name == "step" and call.arguments and is_environment(receiver_node(call.node)):
        frame.sign(SignKind.ENVIRONMENT_STEP, call.node.at)
    if name in names_of_gradients() and FALSE not in call.arguments:
        frame.sign(SignKind.GRADIENTS, call.node.at)
    if len(call.arguments) + len(call.keywords) < 2 or type(callee) in IN_SIGHT:
        return
    given = (*call.arguments, *call.keywords.values())
    if KnownObject in map(type, given) and any(map(is_optimizer, given)) and any(map(is_made, given)):
        # Who is given a loss together with an optimizer goes back through the one, and steps the other.
        frame.sign(SignKind.BACKWARD, call.node.at)
        frame.sign(SignKind.OPTIMIZER_STEP, call.node.at)
        frame.sign(SignKind.PLAIN_STEP, call.node.at)


def is_environment(node: ir.Expr | None) -> bool:
    """``env``, ``self.envs``, ``train_env``."""
    return last_name(node).lower().endswith(("env", "envs", "environment"))


@functools.cache
def names_of_gradients() -> frozenset[str]:
    return frameworks().names("gradients")


def is_optimizer(value: Value) -> bool:
    return type(value) is KnownObject and value.role == Role.OPTIMIZER


def is_made(value: Value) -> bool:
    known = tensor_of(value)
    if known is not None:
        return known.live
    return type(value) is KnownObject and value.role in (Role.OUTPUT, Role.DERIVED)
