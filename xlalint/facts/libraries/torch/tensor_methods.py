"""Methods of tensors."""

from __future__ import annotations

from collections.abc import Callable

from xlalint.facts.detectors import fallbacks
from xlalint.facts.detectors.baked_numbers import check_numbers
from xlalint.facts.detectors.costly_calls import check_generator
from xlalint.facts.detectors.joined_rows import check_picked
from xlalint.facts.domain.known_names import FOREIGN_METHODS, HOST_METHODS
from xlalint.facts.domain.lattice import sequence
from xlalint.facts.domain.values import (
    DECLARED,
    FALSE,
    HOST,
    NONE,
    STR,
    TRUE,
    UNKNOWN,
    Host,
    Tensor,
    Value,
    constant,
    host,
    of_rank,
    tensor,
    tensor_of,
)
from xlalint.facts.events import Effect
from xlalint.facts.kinds import SignKind
from xlalint.facts.libraries.torch import factories, functions, tensor_moves, tensor_reads
from xlalint.facts.operations import shapes
from xlalint.facts.operations.members import shape_value
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
    **dict.fromkeys(("item", "__float__", "__int__", "__bool__"), tensor_reads.item),
    "tolist": tensor_reads.tolist,
    "numpy": tensor_reads.numpy,
    "__array__": tensor_reads.numpy,
    "cpu": tensor_reads.cpu,
    "is_nonzero": tensor_reads.is_nonzero,
    **dict.fromkeys(("equal", "allclose"), tensor_reads.equal_method),
    "to": tensor_moves.to,
    "cuda": tensor_moves.cuda,
    "type": tensor_moves.type_,
    "type_as": tensor_moves.type_as,
    "copy_": tensor_moves.copy_into,
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
