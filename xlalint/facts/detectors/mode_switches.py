"""Switches between training and evaluation mode: a model alternates if one step sets both."""

from __future__ import annotations

from xlalint.facts.detectors.models_of_turns import is_made_in_turn
from xlalint.facts.domain.known_names import MODEL_NAMES
from xlalint.facts.domain.values import FALSE, NONE
from xlalint.facts.events import Effect
from xlalint.facts.kinds import TRAINED, SignKind
from xlalint.facts.operations.placement import MOVING
from xlalint.facts.state.call import Call
from xlalint.facts.state.frame import Frame
from xlalint.program import ir
from xlalint.program.traversal import receiver_node

ANY = "*"
"""In place of a name: the caller's model, whatever it is called there."""
OTHER = {"train": "eval", "eval": "train"}


def switch_mode(frame: Frame, call: Call, certainty: int = 2) -> None:
    """``model.eval()``, ``model.train(False)``. In ``self.train(mode)`` the caller has the choice, and what is restored
    by ``model.train(before)`` was the other mode."""
    holder = receiver_node(call.node)
    model = model_name(frame, holder)
    is_chosen_here = all(
        type(value) is ir.Constant for value in (*call.node.arguments, *(value for _, value in call.node.keywords))
    )
    mode = "eval" if call.name == "eval" or (is_chosen_here and FALSE in call.arguments) else "train"
    if is_chosen_here or model != ANY:
        frame.sign(SignKind(mode), call.node.at, model)
    if is_chosen_here and not is_of_turn(frame, holder, call.node):
        frame.emit(Effect.MODE_SWITCH, call.node.at, NONE, mode, holder, certainty=certainty, detail=model)


def is_of_turn(frame: Frame, holder: ir.Expr | None, node: ir.Call) -> bool:
    """Whether a model is made anew where its mode is set: no later turn or call sets the other mode of it."""
    holder = unmoved(holder)
    return (
        type(holder) is ir.Name
        and holder.name in frame.origins
        and is_made_in_turn(frame.function, holder.name, node, frame.engine.program)
    )


def model_name(frame: Frame, node: ir.Expr | None) -> str:
    """What tells one model from another: the last name, wrappers left out; of what a function itself has bound, the
    function, too."""
    node = unmoved(node)
    if type(node) is ir.Attribute:
        return node.name
    if type(node) is not ir.Name or any(one.name == node.name for one in frame.function.parameters):
        return ANY
    is_local = node.name in frame.origins and frame.function.name != "<module>"
    return f"{frame.function.qualname}:{node.name}" if is_local else node.name


def is_local(model: str) -> bool:
    return ":" in model


def unmoved(node: ir.Expr | None) -> ir.Expr | None:
    """The model itself: ``model.module`` and ``model.cuda()`` are the same one."""
    while True:
        if type(node) is ir.Attribute and node.name == "module":
            node = node.value
        elif type(node) is ir.Call and type(node.function) is ir.Attribute and node.function.name in SAME_MODEL:
            node = node.function.value
        else:
            return node


SAME_MODEL = MOVING | {"eval", "train", "half", "float", "bfloat16", "requires_grad_"}
"""Methods that give the model that they are called on."""


def alternates(mode: str, model: str, signs: frozenset[str], in_loop: bool) -> bool:
    """Whether a model that is put into a mode is, or may be, put into the other one by what ``signs`` tell. A model
    that is trained there starts in that mode; what a function has bound is not trained outside of it (``in_loop``)."""
    other = f"{OTHER[mode]} "
    if any(may_be(model, sign.removeprefix(other)) for sign in signs if sign.startswith(other)):
        return True
    owner, _, name = model.rpartition(":")
    trained = model == ANY or (name in MODEL_NAMES and (in_loop or not owner))
    return mode == "eval" and trained and not signs.isdisjoint(TRAINED)


def may_be(one: str, other: str) -> bool:
    """Whether two names may stand for one model; a name without its function may be that of any."""
    if ANY in (one, other) or one == other:
        return True
    return (":" not in one or ":" not in other) and one.rpartition(":")[2] == other.rpartition(":")[2]
