"""Host-to-device transfers in a step, beside the batch: tensors made there, indices, whole modules.

A tensor that a loader gives is the step's input and no matter of this. Measured: a tensor without dimensions goes up
as a number of the graph, and costs no upload of its own.
"""

from __future__ import annotations

from xlalint.facts.domain.known_names import WITH_PARAMETERS
from xlalint.facts.domain.lattice import MASKS
from xlalint.facts.domain.values import (
    DECLARED,
    HOST,
    NONE,
    NUMPY,
    XLA,
    Host,
    Module,
    Sequence,
    Tensor,
    Value,
    tensor,
    tensor_of,
)
from xlalint.facts.events import Effect
from xlalint.facts.state.call import Call
from xlalint.facts.state.frame import Frame
from xlalint.facts.state.recorder import span_of
from xlalint.knowledge.tables import frameworks
from xlalint.program import ir
from xlalint.program.traversal import decorator_names, receiver_node

KEPT = frozenset({"cache", "lru_cache"})
"""Decorators of functions whose results are kept: what they make is made once."""


def check_moved(frame: Frame, known: Tensor, device: str | None, call: Call) -> None:
    """``torch.zeros(8).to(device)``."""
    if device == XLA and is_surely_on_host(known):
        form = "" if call.arguments[1:] else made_there(call.arguments, call.node)
        emit_upload(frame, known, call.node, receiver_node(call.node), "moved", form)


def check_made(frame: Frame, data: Value, device: str | None, node: ir.Call) -> None:
    """``torch.tensor([…], device=device)``, of numbers that lie on the host."""
    held = data.element if type(data) is Sequence else data
    numbers = type(data) is Sequence and type(held) in (Host, Sequence) and data.elements != ()
    if device == XLA and (numbers or data is NUMPY) and tensor_of(held) is None:
        emit_upload(frame, tensor(HOST), node, node.arguments[0] if node.arguments else None, "made")


def check_mixed(frame: Frame, a: Tensor | None, b: Tensor | None, node: ir.Expr) -> None:
    """A vector of the host as the operand of a device tensor."""
    for one, other in ((a, b), (b, a)):
        if (
            one is not None
            and other is not None
            and is_surely_on_device(one)
            and is_surely_on_host(other)
            and other.rank
        ):
            emit_upload(frame, other, node, node, "operand")


def check_index(frame: Frame, known: Tensor, key: Value, item: ir.Expr, node: ir.Expr) -> None:
    """``x[[0, 2]]``, ``x[rows]``: indices that lie on the host."""
    if not is_surely_on_device(known):
        return
    listed = type(key) is Sequence and key.kind == "list" and type(key.element) is Host and key.elements != ()
    if listed or (type(key) is Tensor and is_surely_on_host(key) and key.rank and key.dtype not in MASKS):
        emit_upload(frame, tensor(HOST, "int"), node, item, "index")


def check_module(frame: Frame, module: Module, name: str, node: ir.Call) -> None:
    """``torch.nn.Linear(8, 8).to(device)``, made in the same expression: an upload for each parameter."""
    made = receiver_node(node)
    last = module.name.rpartition(".")[2]
    if name == "to" and type(made) is ir.Call and last.startswith(WITH_PARAMETERS):
        emit_upload(frame, NONE, node, made, "module")


def emit_upload(
    frame: Frame, value: Value, node: ir.Expr, operand: ir.Expr | None, subject: str, form: str = ""
) -> None:
    if KEPT.isdisjoint(decorator_names(frame.function)):
        frame.emit(Effect.UPLOAD, span_of(node), value, subject, operand, form=form)


def is_surely_on_host(known: Tensor) -> bool:
    return known.device == HOST and known.certainty >= DECLARED and known.rank != 0 and not known.optional


def is_surely_on_device(known: Tensor) -> bool:
    return known.device == XLA and known.certainty > 0


def made_there(arguments: list[Value], node: ir.Call) -> str:
    """Whether the operand is made by a call that could make it on the device at once, and would give the same there:
    random numbers would come from another generator."""
    made = receiver_node(node)
    if type(made) is not ir.Call or type(made.function) is not ir.Attribute or node.keywords or not arguments:
        return ""
    named = type(made.function.value) is ir.Name and made.function.value.name == "torch"
    to_device = type(arguments[0]) is Host and arguments[0].type == "device"
    same = made.function.name in frameworks().names("same-on-device")
    return "made-there" if named and to_device and same else ""
