"""Methods of tensors that hand their values to the host."""

from __future__ import annotations

import msgspec

from xlalint.facts.detectors import fallbacks
from xlalint.facts.detectors.varying_structure import draws_one_of_many
from xlalint.facts.domain.lattice import sequence
from xlalint.facts.domain.row_lengths import largest_item
from xlalint.facts.domain.values import (
    BOOL,
    HOST,
    KNOWN,
    LONGEST,
    NUMPY,
    READ_NUMBER,
    TRUE,
    UNKNOWN,
    XLA,
    LoopKey,
    Tensor,
    Value,
    host,
    tensor_of,
)
from xlalint.facts.events import Effect
from xlalint.facts.kinds import SignKind
from xlalint.facts.operations.placement import is_as_given
from xlalint.facts.state.call import Call
from xlalint.facts.state.frame import Frame
from xlalint.program import ir
from xlalint.program.traversal import receiver_node


def by_spelling(t: Tensor) -> Tensor:
    """A read that only tensors have tells that a guess is right."""
    return t.but(certainty=1) if t.certainty == 0 and t.live else t


def item(frame: Frame, t: Tensor, call: Call) -> Value:
    if t.live and not fallbacks.is_free(frame, "torch.Tensor.item"):
        frame.emit(Effect.SCALAR_READ, call.node.at, by_spelling(t), "item", receiver_node(call.node))
    if largest_item(receiver_node(call.node)):
        return host("int", varies=LONGEST, read_from_device=t.live)
    kind = t.dtype if t.dtype in ("int", "float", "bool") else "float"
    return host(kind, varies=drawn_key(frame, t, receiver_node(call.node)), read_from_device=True)


def drawn_key(frame: Frame, t: Tensor, node: ir.Expr | None) -> LoopKey | None:
    """``torch.randint(1, 9, ()).item()``: what marks a number that torch draws on the host."""
    return frame.draw_key() if not t.live and node is not None and draws_one_of_many(frame, node) else None


def tolist(frame: Frame, t: Tensor, call: Call) -> Value:
    if t.live and not fallbacks.is_free(frame, "torch.Tensor.tolist"):
        frame.emit(Effect.VALUES_TO_LIST, call.node.at, by_spelling(t), "tolist", receiver_node(call.node))
    if t.rank == 0:
        return READ_NUMBER
    return sequence(
        "list",
        None,
        host(t.dtype if t.dtype in ("int", "float") else "?", read_from_device=True) if t.rank == 1 else UNKNOWN,
    )


def numpy(frame: Frame, t: Tensor, call: Call) -> Value:
    if t.live:
        forced = call.keywords.get("force") is TRUE
        # It raises on every accelerator, so what may lie on the host surely does.
        sure = t.device == XLA and t.certainty == KNOWN and not is_as_given(frame, receiver_node(call.node))
        if forced or (sure and not tries_itself_out(frame)):
            effect = Effect.VALUES_TO_LIST if forced else Effect.NUMPY_OF_DEVICE
            frame.emit(effect, call.node.at, t, "numpy", receiver_node(call.node))
        else:
            # Wherever it lies, nothing of it is left to be computed.
            frame.sign(SignKind.HOST_READ, 0)
    else:
        copied_for_numpy(frame, call.node)
    return NUMPY


def tries_itself_out(frame: Frame) -> bool:
    """Whether a file computes at its top and moves nothing there: it does so on the host."""
    return frame.function.name == "<module>" and frame.function.called.isdisjoint(PLACING)


PLACING = frozenset({"to", "cuda", "xla_device", "device", "set_default_device", "set_default_tensor_type", "prepare"})


def copied_for_numpy(frame: Frame, node: ir.Call) -> None:
    """``x.cpu().numpy()`` is one read: it is told of the whole expression."""
    copied = receiver_node(node)
    event = frame.record.events.get((copied.at, "")) if type(copied) is ir.Call else None
    if event is not None and event.effect is Effect.COPY_TO_HOST:
        del frame.record.events[event.at, ""]
        frame.record_event(msgspec.structs.replace(event, effect=Effect.VALUES_TO_LIST, at=node.at, subject="numpy"))


def cpu(frame: Frame, t: Tensor, call: Call) -> Value:
    if t.live:
        frame.emit(Effect.COPY_TO_HOST, call.node.at, by_spelling(t), "cpu", receiver_node(call.node))
    return t.but(device=HOST, optional=False)


def is_nonzero(frame: Frame, t: Tensor, call: Call) -> Value:
    if t.live and not fallbacks.is_free(frame, f"torch.Tensor.{call.name}"):
        frame.emit(Effect.COMPARED_ON_HOST, call.node.at, t, call.name, receiver_node(call.node))
    return BOOL


def equal_method(frame: Frame, t: Tensor, call: Call) -> Value:
    other = tensor_of(call.arguments[0]) if call.arguments else None
    if (t.live or (other is not None and other.live)) and not fallbacks.is_free(frame, f"torch.{call.name}"):
        frame.emit(Effect.COMPARED_ON_HOST, call.node.at, t, call.name, receiver_node(call.node))
    return BOOL
