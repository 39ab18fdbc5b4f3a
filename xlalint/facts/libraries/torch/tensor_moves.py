"""Methods of tensors that give another device or type."""

from __future__ import annotations

from xlalint.facts.detectors.costly_calls import note_cuda
from xlalint.facts.detectors.uploads import check_moved
from xlalint.facts.domain.lattice import MASKS
from xlalint.facts.domain.refinement import as_operand
from xlalint.facts.domain.values import (
    DECLARED,
    FALSE,
    HOST,
    KNOWN,
    LIKELY_HOST_DEVICE,
    NONE,
    STR,
    TRUE,
    UNKNOWN,
    XLA,
    Bound,
    Host,
    KnownObject,
    Namespace,
    Tensor,
    Value,
    tensor_of,
)
from xlalint.facts.events import Effect
from xlalint.facts.guards.device_branches import STAND_IN, names_place_of_another
from xlalint.facts.kinds import SignKind
from xlalint.facts.operations import shapes
from xlalint.facts.state.call import Call
from xlalint.facts.state.frame import Frame
from xlalint.program.traversal import receiver_node


def to(frame: Frame, t: Tensor, call: Call) -> Value:
    dtype, device, beside, copies = t.dtype, t.device, False, True
    for position, value in enumerate(
        [*call.arguments, *(v for k, v in call.keywords.items() if k in ("device", "dtype", "other"))]
    ):
        by_name = (
            next((k for k, v in call.keywords.items() if v is value), "") if position >= len(call.arguments) else ""
        )
        other = tensor_of(value) if type(value) is not KnownObject else None
        if type(value) is Host and value.type == "dtype":
            dtype = value.constant if value.known else None
        elif other is not None:
            dtype, device, beside = other.dtype, other.device, True
        elif value is TRUE or value is FALSE or value is NONE:
            continue
        elif value is UNKNOWN or type(value) is Bound:
            if by_name != "device":
                dtype = None if by_name == "dtype" or t.dtype in MASKS else t.dtype
            if by_name != "dtype":
                device = to_unknown(device, by_name, t)
        elif value is LIKELY_HOST_DEVICE:
            device = device if device == HOST else None
        else:
            device, copies = shapes.device_of(value), not shapes.is_meta(value)
    if device == HOST and t.live and t.device == XLA and copies:
        # Where another tensor is known to lie on the host, what is only assumed of this one is not held against it.
        if t.certainty >= DECLARED or not (beside or names_place_of_another(call.node)):
            frame.emit(Effect.COPY_TO_HOST, call.node.at, t, "to", receiver_node(call.node))
    elif device == HOST and t.device is None and copies:
        frame.emit(Effect.COPY_TO_HOST, call.node.at, t, "to", receiver_node(call.node), certainty=0)
    if device == XLA and t.device != XLA:
        if not beside or t.device is not None:
            # What is only assumed to lie elsewhere than what it works with was no way to the device.
            frame.sign(way_to_device(t), call.node.at)
        note_batch(frame, t, call)
        check_moved(frame, t, device, call)
    certainty = moved_certainty(t) if device == XLA else t.certainty
    return t.but(device=device, dtype=dtype, optional=False, certainty=certainty)


def note_batch(frame: Frame, t: Tensor, call: Call) -> None:
    """What is only likely a tensor is a part of a loader's batch."""
    if t.certainty == 1:
        frame.sign(SignKind.BATCH_MOVED, call.node.at)


def way_to_device(t: Tensor) -> SignKind:
    return SignKind.UPLOADED if t.device == HOST and t.certainty >= DECLARED else SignKind.MOVED


def moved_certainty(t: Tensor) -> int:
    """What is surely a tensor surely lies where it is moved."""
    return KNOWN if t.certainty == DECLARED else max(t.certainty, 1)


def to_unknown(device: str | None, by_name: str, t: Tensor) -> str | None:
    """``.to(x)`` of something unknown: a dtype or a device; what is on the host may be moved."""
    if by_name == "device":
        return XLA
    return device if device == XLA else None


def cuda(frame: Frame, t: Tensor, call: Call) -> Value:
    note_cuda(frame, call.node)
    if t.device != XLA:
        frame.sign(way_to_device(t), call.node.at)
        note_batch(frame, t, call)
    return t.but(device=XLA, optional=False, certainty=KNOWN if t.certainty == DECLARED else t.certainty)


def type_(frame: Frame, t: Tensor, call: Call) -> Value:
    if not call.arguments and not call.keywords:
        return STR
    value = call.arguments[0] if call.arguments else UNKNOWN
    if type(value) is Host and value.type == "dtype":
        return t.but(dtype=value.constant if value.known else None, optional=False)
    if type(value) is Namespace and value.name.startswith(STAND_IN) and value.name.endswith("Tensor"):
        if t.device != XLA:
            frame.sign(SignKind.MOVED, call.node.at)
        return t.but(device=XLA, dtype=None, optional=False)
    if type(value) is Namespace and value.name.startswith("torch.") and value.name.endswith("Tensor"):
        if t.live:
            frame.emit(Effect.COPY_TO_HOST, call.node.at, t, "type", receiver_node(call.node))
        return t.but(device=HOST, optional=False)
    return t.but(dtype=None, optional=False)


def type_as(frame: Frame, t: Tensor, call: Call) -> Value:
    """``x.type_as(y)`` is where y is, too: on the device, where nobody knows it, as after ``x.to(y.device)``."""
    other = tensor_of(as_operand(call.arguments[0])) if call.arguments else None
    if other is not None and other.device == HOST:
        return t.but(dtype=other.dtype, device=HOST, optional=False)
    dtype = None if other is None else other.dtype
    return t.but(dtype=dtype, device=XLA, optional=False, certainty=moved_certainty(t))


def copy_into(frame: Frame, t: Tensor, call: Call) -> Value:
    source = tensor_of(call.arguments[0]) if call.arguments else None
    if t.device == HOST and source is not None and source.device == XLA and source.certainty >= DECLARED:
        frame.emit(
            Effect.COPY_TO_HOST, call.node.at, source, "copy_", call.node.arguments[0] if call.node.arguments else None
        )
    frame.pending()
    return t
