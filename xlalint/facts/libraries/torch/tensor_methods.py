"""Methods of tensors."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from xlalint.facts.detectors import fallbacks
from xlalint.facts.detectors.baked_numbers import check_numbers
from xlalint.facts.detectors.costly_calls import check_generator, note_cuda
from xlalint.facts.detectors.joined_rows import check_picked
from xlalint.facts.detectors.uploads import check_moved
from xlalint.facts.detectors.varying_structure import draws_one_of_many
from xlalint.facts.domain.known_names import FOREIGN_METHODS, HOST_METHODS
from xlalint.facts.domain.lattice import MASKS, sequence
from xlalint.facts.domain.refinement import as_operand
from xlalint.facts.domain.row_lengths import largest_item
from xlalint.facts.domain.values import (
    BOOL,
    DECLARED,
    FALSE,
    HOST,
    KNOWN,
    LIKELY_HOST_DEVICE,
    LONGEST,
    NONE,
    NUMPY,
    READ_NUMBER,
    STR,
    TRUE,
    UNKNOWN,
    XLA,
    Bound,
    Host,
    KnownObject,
    LoopKey,
    Namespace,
    Tensor,
    Value,
    constant,
    host,
    of_rank,
    tensor,
    tensor_of,
)
from xlalint.facts.events import Effect
from xlalint.facts.guards.device_branches import STAND_IN, names_place_of_another
from xlalint.facts.kinds import SignKind
from xlalint.facts.libraries.torch import factories, functions
from xlalint.facts.operations import shapes
from xlalint.facts.operations.members import shape_value
from xlalint.facts.operations.placement import is_as_given
from xlalint.facts.state.call import Arguments, Call, Keywords
from xlalint.facts.state.frame import Frame
from xlalint.program import ir
from xlalint.program.traversal import receiver_node


def call_tensor_method(frame: Frame, tensor: Tensor, call: Call) -> Value:
    if call.name in HOST_METHODS:
        if call.name in ("dim", "ndimension") and tensor.rank is not None:
            return constant(tensor.rank)
        return host(HOST_METHODS[call.name])
    if call.name.endswith("_") and frame.over_parameters():
        frame.sign(SignKind.MANUAL_STEP, call.node.at)
    if call.name == "mode" and tensor.certainty < DECLARED and not call.arguments and not call.keywords:
        # Rather one of a distribution, which a model may give as well as a tensor.
        return tensor.but(dims=None)
    handler = METHODS.get(call.name)
    if handler is not None:
        if frame.ops.newly_costly:
            row = fallbacks.row_of_method(frame, call.name)
            fallbacks.check_newly_costly(frame, row, call.given([tensor, *call.arguments]), method=True)
        return handler(frame, tensor, call)
    if call.name == "sum" and not call.arguments and not call.keywords:
        frame.mark_form(receiver_node(call.node), Effect.BOOLEAN_INDEX, "summed")
    row = fallbacks.row_of_method(frame, call.name)
    if row is not None:
        fallbacks.check_op(frame, row, call.given([tensor, *call.arguments]), method=True)
    elif call.name in FOREIGN_METHODS:
        return method_of_mapping(tensor, call.name)
    frame.pending()
    check_generator(frame, call, tensor)
    check_picked(frame, call, tensor)
    functions.read_bound(frame, call.name, call)
    varies = check_numbers(frame, call, tensor.live, tensor.varies)
    result = reshaped(tensor, call.name, call.arguments, call.keywords) or functions.result_of_call(
        call.name, tensor.but(optional=False), call.arguments, call.keywords
    )
    result = shapes.flowing(result, call.name, (*call.arguments, *call.keywords.values()))
    if type(result) is Tensor:
        if varies is not None:
            result = result.but(varies=varies)
        if (
            call.name.endswith("_")
            and type(call.node.function) is ir.Attribute
            and type(call.node.function.value) is ir.Name
        ):
            frame.env[call.node.function.value.name] = tensor.but(optional=False, grad=tensor.grad or result.grad)
    return result


def method_of_mapping(tensor: Tensor, name: str) -> Value:
    """What was taken for a tensor is none: what has items holds tensors, such as several losses; else it is a text."""
    held = tensor.but(dims=None, certainty=min(tensor.certainty, 1), optional=False)
    if name == "items":
        return sequence("list", None, sequence("tuple", (STR, held)))
    return sequence("list", None, held) if name == "values" else UNKNOWN


def reshaped(tensor: Tensor, name: str, arguments: Arguments, keywords: Keywords) -> Tensor | None:
    """Methods that change the shape and nothing else."""
    rank = tensor.rank
    if name in ("view", "reshape", "expand", "repeat", "tile"):
        if arguments and type(arguments[0]) is Host and arguments[0].type == "dtype":
            return tensor.but(dtype=arguments[0].constant if arguments[0].known else None)
        dims = shapes.dims_from(arguments) if arguments else None
        if dims is not None:
            dims = tuple(None if size is not None and size < 0 else size for size in dims)
            dims = dims if name in ("view", "reshape") else of_rank(len(dims))
        return tensor.but(dims=dims, optional=False)
    if name == "squeeze":
        if not arguments and not keywords:
            return tensor.but(dims=() if tensor.dims == (1,) else None, optional=False)
        if tensor.dims is None:
            return tensor.but(optional=False)
        dim = arguments[0] if arguments else keywords.get("dim")
        return tensor.but(dims=squeezed(tensor.dims, dim), optional=False)
    if name == "unsqueeze":
        return tensor.but(dims=None if rank is None else of_rank(rank + 1), optional=False)
    if name in ("flatten", "ravel"):
        return tensor.but(dims=(None,) if not arguments and not keywords else None, optional=False)
    if name in ("permute", "transpose", "swapaxes", "movedim", "t", "moveaxis", "swapdims"):
        return tensor.but(dims=of_rank(rank), optional=False)
    if name in ("index_select", "gather", "take_along_dim", "narrow"):
        return tensor.but(dims=of_rank(rank), optional=False)
    if name in ("view_as", "expand_as", "reshape_as"):
        other = tensor_of(arguments[0]) if arguments else None
        return tensor.but(dims=other.dims if other is not None else None, optional=False)
    if name in ("select", "diagonal"):
        return tensor.but(dims=None if rank is None else of_rank(rank - 1), optional=False)
    return None


def squeezed(dims: tuple[int | None, ...], dim: Value | None) -> tuple[int | None, ...] | None:
    if type(dim) is not Host or type(dim.constant) is not int or not -len(dims) <= dim.constant < len(dims):
        return None
    size = dims[dim.constant]
    if size is None:
        # What is squeezed has one element there, as a rule; whether nothing is left, nobody knows.
        return of_rank(len(dims) - 1) if len(dims) > 1 else None
    position = dim.constant % len(dims)
    return dims[:position] + dims[position + 1 :] if size == 1 else dims


# Reads


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


# Moves and conversions


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


def detach(frame: Frame, t: Tensor, call: Call) -> Value:
    return t.but(grad=False, optional=False)


def size(frame: Frame, t: Tensor, call: Call) -> Value:
    if not call.arguments and not call.keywords:
        return shape_value(t)
    dim = call.arguments[0] if call.arguments else UNKNOWN
    if (
        t.dims is not None
        and type(dim) is Host
        and type(dim.constant) is int
        and -len(t.dims) <= dim.constant < len(t.dims)
    ):
        known = t.dims[dim.constant]
        if known is not None:
            return constant(known)
    position = dim.constant if type(dim) is Host and type(dim.constant) is int else None
    return host("int", varies=t.varies if position is None else t.varies_at(position))


def backward(frame: Frame, t: Tensor, call: Call) -> Value:
    frame.sign(SignKind.BACKWARD, call.node.at)
    if t.device == HOST and t.certainty >= DECLARED:
        frame.sign(SignKind.HOST_LOSS, call.node.at)
    frame.pending()
    return NONE


def new_factory(frame: Frame, t: Tensor, call: Call) -> Value:
    device = shapes.device_argument(call.keywords, t.device)
    filled = bool(call.arguments) and all(type(v) is Host and v.type in ("int", "?") for v in call.arguments)
    if call.name == "new_tensor" or (call.name == "new" and not filled):
        given = {**call.keywords, "device": host("device", device)}
        made = factories.make_tensor(frame, call.given(call.arguments, given))
        return made if call.name == "new_tensor" or type(made) is not Tensor else made.but(dtype=t.dtype)
    varies = check_numbers(frame, call, True)
    sizes = call.arguments[:1] if call.name == "new_full" else call.arguments
    dims = shapes.dims_from(sizes) if sizes else None
    return tensor(device, shapes.dtype_argument(call.keywords, t.dtype), dims, False, varies, t.certainty)


def where_method(frame: Frame, t: Tensor, call: Call) -> Value:
    if not call.arguments:
        return functions.torch_where(frame, call.given([t]))
    return functions.torch_where(frame, call.given([call.arguments[0], t, *call.arguments[1:]]))


def split_method(frame: Frame, t: Tensor, call: Call) -> Value:
    if call.name == "split" and is_of_text(call.arguments, call.keywords):
        return sequence("list", None, STR)
    return functions.split_function(frame, call.given([t, *call.arguments]))


def is_of_text(arguments: Arguments, keywords: Keywords) -> bool:
    """``line.split()``, ``line.split(",")``: of a tensor both would raise, so what was taken for one is a text."""
    if not arguments:
        return not keywords
    return type(arguments[0]) is Host and arguments[0].type == "str"


def factor(frame: Frame, t: Tensor, call: Call) -> Value:
    """``add(x, alpha=k)``: a device scalar there is read."""
    alpha = call.keywords.get("alpha")
    if type(alpha) is Tensor and alpha.live:
        frame.emit(Effect.TENSOR_AS_NUMBER, call.node.at, alpha, "alpha", None)
    return functions.result_of_call(call.name, t.but(optional=False), call.arguments, call.keywords)


def requires_grad(frame: Frame, t: Tensor, call: Call) -> Value:
    """``x.requires_grad_()``: gradients flow into it from here on."""
    given = call.arguments[0] if call.arguments else call.keywords.get("requires_grad", TRUE)
    changed = t.but(grad=given is not FALSE, optional=False)
    held = receiver_node(call.node)
    if type(held) is ir.Name:
        frame.env[held.name] = changed
    return changed


def copies(frame: Frame, t: Tensor, call: Call) -> Value:
    return t.but(optional=False)


Method = Callable[[Frame, Tensor, Call], Value]
METHODS: dict[str, Method] = {
    **dict.fromkeys(("item", "__float__", "__int__", "__bool__"), item),
    "tolist": tolist,
    "numpy": numpy,
    "__array__": numpy,
    "cpu": cpu,
    "is_nonzero": is_nonzero,
    **dict.fromkeys(("equal", "allclose"), equal_method),
    "to": to,
    "cuda": cuda,
    "type": type_,
    "type_as": type_as,
    "copy_": copy_into,
    "detach": detach,
    "detach_": detach,
    "size": size,
    "backward": backward,
    **dict.fromkeys(("new_tensor", "new_zeros", "new_ones", "new_full", "new_empty", "new"), new_factory),
    "where": where_method,
    **dict.fromkeys(("split", "chunk", "unbind", "tensor_split"), split_method),
    **dict.fromkeys(("add", "sub", "add_", "sub_"), factor),
    **dict.fromkeys(("pin_memory", "share_memory_"), copies),
    "requires_grad_": requires_grad,
}
