"""Functions under ``torch``."""

from __future__ import annotations

from collections.abc import Callable

from xlalint.facts.detectors import fallbacks
from xlalint.facts.detectors.baked_numbers import check_numbers
from xlalint.facts.detectors.costly_calls import check_generator
from xlalint.facts.detectors.joined_rows import check_joined, check_picked
from xlalint.facts.detectors.padding import check_padding
from xlalint.facts.domain.lattice import sequence
from xlalint.facts.domain.refinement import as_operand
from xlalint.facts.domain.role import Role
from xlalint.facts.domain.values import (
    ANY_DEVICE,
    BOOL,
    DATA,
    DTYPE,
    FALSE,
    HOST,
    HOST_DEVICE,
    INT,
    NONE,
    OBJECT,
    SIZE,
    TRUE,
    UNKNOWN,
    XLA,
    XLA_DEVICE,
    Bound,
    Host,
    KnownObject,
    Mapping,
    Sequence,
    Tensor,
    Union,
    Value,
    constant,
    known_object,
    of_rank,
    surely_tensor,
    tensor,
    tensor_of,
)
from xlalint.facts.events import Effect
from xlalint.facts.libraries.torch.factories import (
    LEGACY,
    factory,
    first_argument,
    from_numpy,
    legacy_tensor,
    make_tensor,
    with_gradients,
)
from xlalint.facts.operations import shapes
from xlalint.facts.operations.arithmetic import combined
from xlalint.facts.state.call import Arguments, Call, Keywords
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.tables import results

HOST_RESULTS: dict[str, Value] = {
    **dict.fromkeys(("is_floating_point", "is_complex", "is_signed", "is_conj", "is_neg", "is_same_size"), BOOL),
    **dict.fromkeys(("is_inference", "is_inference_mode_enabled", "is_grad_enabled", "is_autocast_enabled"), BOOL),
    **dict.fromkeys(("is_anomaly_enabled", "is_autocast_cache_enabled", "is_storage", "is_distributed"), BOOL),
    "are_deterministic_algorithms_enabled": BOOL,
    "finfo": OBJECT,
    "iinfo": OBJECT,
    "get_default_dtype": DTYPE,
    "get_autocast_dtype": DTYPE,
    "result_type": DTYPE,
    "promote_types": DTYPE,
    "Size": SIZE,
    "numel": INT,
    "manual_seed": OBJECT,
    "set_grad_enabled": OBJECT,
    "get_rng_state": tensor(HOST),
    "load": UNKNOWN,
    "save": NONE,
    "device_count": constant(0),
    "get_num_threads": INT,
    "broadcast_shapes": SIZE,
}
RESIZING = frozenset({"interpolate", "upsample", "resize"})
"""Ops that give images another size; on the host, before they are moved, that is the size of the batch."""
SILENT_ROOMS = frozenset(
    {"cuda", "distributed", "jit", "backends", "compiler", "profiler", "amp", "fx", "onnx", "utils", "autograd",
     "multiprocessing", "hub", "xpu", "mps", "random", "library", "package", "export", "serialization",
     "overrides"}
)  # fmt: skip
"""Rooms of torch whose functions do nothing to tensors that matters here."""


def call_torch(frame: Frame, call: Call) -> Value:
    last = call.name.rpartition(".")[2]
    room = call.name.split(".")[1] if call.name.count(".") > 1 else ""
    handler = HANDLERS.get(last)
    if handler is not None and room in ("", "nn", "functional", "overrides"):
        if frame.ops.newly_costly:
            fallbacks.check_newly_costly(frame, fallbacks.row_of_function(frame, call.name), call)
        return handler(frame, call)
    if last in HOST_RESULTS and room in ("", "cuda"):
        return HOST_RESULTS[last]
    if room in SILENT_ROOMS:
        return call_silent(frame, call)
    row = results().get(last)
    if row is not None and row.shape == "factory" and room in ("", "signal"):
        return factory(frame, call)
    return call_op(frame, call)


def call_silent(frame: Frame, call: Call) -> Value:
    if call.name == "torch.jit.annotate" and len(call.arguments) > 1:
        return call.arguments[1]
    if call.name.startswith("torch.utils.checkpoint.") and call.arguments:
        return frame.call(call.arguments[0], call.given(call.arguments[1:], {}))
    if call.name.startswith("torch.jit.") and call.arguments:
        return call.arguments[0]
    if call.name in ("torch.autograd.Variable", "torch.autograd.variable.Variable") and call.arguments:
        return as_variable(call)
    if call.name == "torch.autograd.grad":
        return gradients(call)
    return UNKNOWN


def gradients(call: Call) -> Value:
    """``torch.autograd.grad(outputs, inputs)``: one for each input, where that lies."""
    inputs = call.arguments[1] if len(call.arguments) > 1 else call.keywords.get("inputs", UNKNOWN)
    if type(inputs) is Sequence and inputs.elements is not None:
        return sequence("tuple", [gradient(value) for value in inputs.elements])
    held = inputs.element if type(inputs) is Sequence else inputs
    return sequence("tuple", [gradient(held)] if type(held) is Tensor and held is inputs else None, gradient(held))


def gradient(value: Value) -> Value:
    known = value if type(value) is Tensor else None
    return tensor(HOST if known is not None and known.device == HOST else XLA, "float", known.dims if known else None)


def as_variable(call: Call) -> Value:
    """``Variable(x, requires_grad=True)``."""
    value = call.arguments[0]
    return with_gradients(value, call.keywords) if type(value) is Tensor else value


def call_op(frame: Frame, call: Call) -> Value:
    arguments = call.arguments
    keywords = call.keywords
    arguments = [as_operand(value) for value in arguments]
    keywords = {key: as_operand(value) for key, value in keywords.items()}
    first = arguments[0] if arguments else keywords.get("input", keywords.get("self"))
    base = tensor_of(first) if first is not None else None
    if base is not None and base.certainty == 0:
        base = base.but(certainty=1)
    row = fallbacks.row_of_function(frame, call.name)
    if row is not None:
        fallbacks.check_op(frame, row, call.given(arguments, keywords))
    frame.pending()
    if base is None:
        check_numbers(frame, Call(call.last, arguments[1:], keywords, call.node), False)
        return of_unknown_operand(frame, call.name, call.last, arguments, keywords)
    rest = arguments[1:]
    check_generator(frame, call.given(call.arguments, keywords), base)
    read_factor(frame, call.given(call.arguments, keywords))
    read_bound(frame, call.last, call.given(rest, keywords))
    check_picked(frame, call, base)
    varies = check_numbers(frame, Call(call.last, rest, keywords, call.node), base.live, base.varies)
    if varies is not None and not base.live and call.last in RESIZING:
        frame.emit(Effect.VARYING_BATCH, call.node.at, base, call.last, first_argument(call.node), certainty=1)
    result = result_of_call(call.last, base, rest, keywords)
    if varies is not None and type(result) is Tensor:
        result = result.but(varies=varies)
    written = tensor_of(keywords.get("out"))
    if written is not None and type(result) is Tensor:
        result = result.but(dtype=written.dtype)
    return shapes.flowing(result, call.last, (*rest, *keywords.values()))


def read_factor(frame: Frame, call: Call) -> None:
    """``torch.add(x, y, alpha=k)``: a device scalar there is read."""
    for name in ("alpha", "beta"):
        factor = call.keywords.get(name)
        if type(factor) is Tensor and factor.live:
            frame.emit(Effect.TENSOR_AS_NUMBER, call.node.at, factor, name, None)
            return


def read_bound(frame: Frame, name: str, call: Call) -> None:
    """``x.clamp(0, limit)``: where one bound is a number, the other is read as one."""
    if name not in BOUNDED:
        return
    bounds = [*call.arguments[:2], *(call.keywords.get(key, NONE) for key in ("min", "max"))]
    limit = next((one for one in bounds if type(one) is Tensor and one.live and one.rank in (None, 0)), None)
    if limit is not None and any(type(one) is Host and one.type in ("int", "float") for one in bounds):
        frame.emit(
            Effect.TENSOR_AS_NUMBER, call.node.at, limit, "bound", None, certainty=1 if limit.rank is None else 2
        )


BOUNDED = frozenset({"clamp", "clamp_", "clip", "clip_"})


def asserted(frame: Frame, call: Call) -> Value:
    """``torch._assert(x.sum() > 0, "…")`` and its kin ask for the value."""
    value = call.arguments[0] if call.arguments else call.keywords.get("condition", UNKNOWN)
    known = tensor_of(value)
    if known is not None and known.live and surely_tensor(value):
        frame.emit(Effect.ASSERTION, call.node.at, value, f"torch.{call.last}", first_argument(call.node))
    return NONE


def result_of_call(last: str, base: Tensor, rest: Arguments, keywords: Keywords) -> Value:
    special = shapes.SPECIAL.get(last)
    if special is not None:
        return special(base, rest, keywords)
    return shapes.op_result(last, base, rest, keywords)


def of_unknown_operand(frame: Frame, name: str, last: str, arguments: Arguments, keywords: Keywords) -> Value:
    """An op of something that is not known: a tensor all the same, if the op is one."""
    others = [t for v in [*arguments, *keywords.values()] if (t := tensor_of(v)) is not None]
    if others:
        # Gradients may flow to the operand that is not known.
        return shapes.op_result(last, others[0].but(dims=None, grad=True), arguments, keywords)
    if fallbacks.row_of_function(frame, name) is None and last not in results():
        return UNKNOWN
    if last.startswith(("is_", "get_", "set_", "_")):
        return UNKNOWN
    if any(v is UNKNOWN or type(v) in (Bound, Union, KnownObject) for v in [*arguments, *keywords.values()]):
        row = results().get(last)
        device = shapes.device_argument(keywords, XLA)
        return tensor(device, (row.dtype or None) if row else None, certainty=1)
    return UNKNOWN


def make_device(frame: Frame, call: Call) -> Value:
    if not call.arguments and not call.keywords:
        return ANY_DEVICE
    given = call.arguments[0] if call.arguments else call.keywords.get("type", UNKNOWN)
    if type(given) is Host and given.type in ("str", "device") and given.known and not frame.stands_for_device:
        return HOST_DEVICE if shapes.device_of(given) == HOST else XLA_DEVICE
    return XLA_DEVICE


def make_generator(frame: Frame, call: Call) -> Value:
    """On the host, unless another device is named; XLA has none."""
    device = call.arguments[0] if call.arguments else call.keywords.get("device")
    return known_object(Role.GENERATOR) if device is None or shapes.device_of(device) == HOST else OBJECT


def is_tensor_function(frame: Frame, call: Call) -> Value:
    value = call.arguments[0] if call.arguments else UNKNOWN
    if type(value) is Tensor and not value.optional and value.certainty > 0:
        return TRUE
    if type(value) is Host and value.type != "?":
        return FALSE
    return FALSE if type(value) in (Sequence, Mapping) else BOOL


def equal_function(frame: Frame, call: Call) -> Value:
    known = next((t for v in call.arguments if (t := tensor_of(v)) is not None and t.live), None)
    if known is not None and not fallbacks.is_free(frame, f"torch.{call.last}"):
        frame.emit(Effect.COMPARED_ON_HOST, call.node.at, known, f"torch.{call.last}", first_argument(call.node))
    return BOOL


def torch_where(frame: Frame, call: Call) -> Value:
    condition = tensor_of(call.arguments[0]) if call.arguments else tensor_of(call.keywords.get("condition"))
    given = [*call.arguments[1:], *(call.keywords[k] for k in ("input", "other", "self") if k in call.keywords)]
    frame.pending()
    if not given:
        if condition is not None and condition.live and not fallbacks.is_free(frame, "torch.nonzero"):
            frame.emit(Effect.NONZERO, call.node.at, condition, "torch.where", first_argument(call.node))
        index = tensor(condition.device if condition else XLA, "int", (None,), False, DATA)
        if condition is None or condition.rank is None:
            return sequence("tuple", None, index)
        return sequence("tuple", [index] * condition.rank)
    a = tensor_of(given[0])
    b = tensor_of(given[1]) if len(given) > 1 else None
    if a is None and b is None:
        base = condition or tensor(certainty=1)
        kinds = {v.type for v in given if type(v) is Host}
        return base.but(
            dtype=kinds.pop() if len(kinds) == 1 and kinds <= {"int", "float", "bool"} else None, grad=False
        )
    result = combined_where(a, b, given)
    if condition is not None and result.rank is not None and condition.rank is not None:
        return result.but(dims=of_rank(max(result.rank, condition.rank)))
    return result.but(dims=None)


def combined_where(a: Tensor | None, b: Tensor | None, given: Arguments) -> Tensor:
    other = next((v for v in given if tensor_of(v) is None), None)
    return combined(a, b, None, False, other)


def concatenated(frame: Frame, call: Call) -> Value:
    check_joined(frame, call)
    parts = call.arguments[0] if call.arguments else call.keywords.get("tensors")
    known = tensor_of(parts.element) if type(parts) is Sequence else tensor_of(parts)
    listed = parts.elements if type(parts) is Sequence and parts.elements else ()
    tensors = [t for part in listed if (t := tensor_of(part)) is not None]
    if known is None and tensors:
        # What nobody knows lies where the others do; gradients may flow to it.
        known = tensors[0].but(grad=True)
    frame.pending()
    if known is None:
        return tensor(certainty=1)
    if tensors:
        device = XLA if any(t.device == XLA for t in tensors) else known.device
        rank = max((t.rank for t in tensors if t.rank is not None), default=None)
        known = known.but(device=device, dims=of_rank(rank))
    elif type(parts) is Sequence:
        known = known.but(dims=of_rank(known.rank))
    elif known.rank is not None:
        known = known.but(dims=of_rank(known.rank - 1))
    known = known.but(optional=False)
    if call.last == "stack":
        return known.but(dims=None if known.rank is None else of_rank(known.rank + 1))
    return known


def einsum(frame: Frame, call: Call) -> Value:
    tensors = [t for v in call.arguments[1:] if (t := tensor_of(v)) is not None]
    equation = call.arguments[0] if call.arguments else UNKNOWN
    rank = None
    if type(equation) is Host and type(equation.constant) is str and "->" in equation.constant:
        output = equation.constant.split("->")[1].replace(" ", "")
        rank = len(output) if "..." not in output else None
    host = bool(tensors) and all(t.device == HOST for t in tensors)
    frame.pending()
    return tensor(HOST if host else XLA, "float", of_rank(rank), not tensors or any(t.grad for t in tensors))


def split_function(frame: Frame, call: Call) -> Value:
    base = tensor_of(call.arguments[0]) if call.arguments else None
    if call.last in ("split", "chunk", "tensor_split") and base is not None:
        check_numbers(frame, Call(call.last, call.arguments[1:], call.keywords, call.node), base.live, base.varies)
    if base is None:
        return UNKNOWN
    dims = of_rank(base.rank) if call.last != "unbind" else of_rank(None if base.rank is None else base.rank - 1)
    if call.last == "tensor_split":
        row = fallbacks.row_of_function(frame, "torch.tensor_split")
        if row is not None:
            fallbacks.check_op(frame, row, call)
    return sequence("tuple", None, base.but(dims=dims, optional=False))


def meshgrid(frame: Frame, call: Call) -> Value:
    parts = call.arguments
    if len(call.arguments) == 1 and type(call.arguments[0]) is Sequence:
        if call.arguments[0].elements is None:
            inner = tensor_of(call.arguments[0].element)
            return sequence("tuple", None, inner.but(dims=None)) if inner is not None else UNKNOWN
        parts = list(call.arguments[0].elements)
    tensors = [t for v in parts if (t := tensor_of(v)) is not None]
    if not tensors or len(tensors) != len(parts):
        return UNKNOWN
    dims = of_rank(len(parts)) if call.last == "meshgrid" else None
    return sequence("tuple", [t.but(dims=dims) for t in tensors])


def attention(frame: Frame, call: Call) -> Value:
    value = tensor(dtype="float", dims=of_rank(3))
    return sequence("tuple", (value, value))


def as_sequence(frame: Frame, call: Call) -> Value:
    """``pad_sequence``, ``pack_padded_sequence`` and their kin."""
    check_padding(frame, call.named(call.last))
    row = fallbacks.row_of_function(frame, f"torch.nn.utils.rnn.{call.last}")
    lengths = call.arguments[1] if len(call.arguments) > 1 else call.keywords.get("lengths")
    known = tensor_of(call.arguments[0]) if call.arguments else None
    if call.last == "pack_padded_sequence":
        live = next((t for t in (tensor_of(lengths), known) if t is not None and t.live), None)
        if live is not None and (row is None or not row.free):
            frame.emit(
                Effect.DATA_SIZED, call.node.at, live, f"torch.nn.utils.rnn.{call.last}", first_argument(call.node)
            )
        return known_object(Role.PACKED, tensor(dtype="float"))
    if call.last == "pad_packed_sequence":
        return sequence("tuple", (tensor(dtype="float", dims=of_rank(3)), tensor(HOST, "int", (None,))))
    element = call.arguments[0] if call.arguments else UNKNOWN
    inner = tensor_of(element.element) if type(element) is Sequence else tensor_of(element)
    if inner is None:
        return tensor(None, certainty=0)
    return inner.but(dims=None if inner.rank is None else of_rank(inner.rank + 1), varies=DATA)


Handler = Callable[[Frame, Call], Value]
HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(("tensor", "as_tensor", "asarray", "scalar_tensor"), make_tensor),
    **dict.fromkeys(LEGACY, legacy_tensor),
    "from_numpy": from_numpy,
    "frombuffer": from_numpy,
    "device": make_device,
    "Generator": make_generator,
    **dict.fromkeys(("is_tensor", "is_tensor_like"), is_tensor_function),
    **dict.fromkeys(("_assert", "_assert_async", "_check"), asserted),
    **dict.fromkeys(("equal", "allclose", "is_nonzero"), equal_function),
    "where": torch_where,
    **dict.fromkeys(
        ("cat", "concat", "concatenate", "stack", "hstack", "vstack", "dstack", "column_stack"), concatenated
    ),
    "einsum": einsum,
    **dict.fromkeys(("split", "chunk", "unbind", "tensor_split", "hsplit", "vsplit"), split_function),
    **dict.fromkeys(("meshgrid", "broadcast_tensors"), meshgrid),
    "multi_head_attention_forward": attention,
    **dict.fromkeys(("pad_sequence", "pack_padded_sequence", "pad_packed_sequence", "pack_sequence"), as_sequence),
}
