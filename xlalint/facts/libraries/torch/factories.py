"""Factories of tensors: ``zeros``, ``arange``, ``tensor``, ``from_numpy`` …"""

from __future__ import annotations

from xlalint.facts.detectors.baked_numbers import check_numbers
from xlalint.facts.detectors.costly_calls import check_generator
from xlalint.facts.detectors.fallbacks import check_factory
from xlalint.facts.detectors.padding import tell_width
from xlalint.facts.detectors.uploads import check_made
from xlalint.facts.domain.row_lengths import longest_rows
from xlalint.facts.domain.values import (
    DECLARED,
    HOST,
    TRUE,
    UNKNOWN,
    XLA,
    Host,
    KnownObject,
    Sequence,
    Tensor,
    Value,
    surely_tensor,
    tensor,
    tensor_of,
)
from xlalint.facts.domain.variation import size_kept
from xlalint.facts.events import Effect
from xlalint.facts.guards.device_branches import names_place_of_another
from xlalint.facts.kinds import SignKind
from xlalint.facts.operations import shapes
from xlalint.facts.state.call import Arguments, Call, Keywords
from xlalint.facts.state.frame import Frame
from xlalint.program import ir


def factory(frame: Frame, call: Call) -> Value:
    device = shapes.device_argument(call.keywords)
    varies = check_numbers(frame, call.named(call.last), device != HOST)
    frame.pending()
    sizes = call.arguments
    dtype: str | None = "float"
    dims: tuple[int | None, ...] | None
    if call.last in ("arange", "randint", "randperm", "tril_indices", "triu_indices", "range"):
        floats = call.last == "arange" and any(type(v) is Host and v.type == "float" for v in call.arguments)
        dtype = "float" if floats else "int"
    if call.last == "full":
        fill = call.arguments[1] if len(call.arguments) > 1 else call.keywords.get("fill_value")
        dtype = {"bool": "bool", "int": "int", "float": "float"}.get(fill.type) if type(fill) is Host else None
        sizes = call.arguments[:1]
        read_number(frame, fill, call.node, "fill value")
    for bound in bounds_of(call.last, call.arguments, call.keywords):
        read_number(frame, bound, call.node, "bound")
    if call.last in ("arange", "linspace", "logspace", "randperm", "range"):
        dims = (single_size(call.last, call.arguments),)
    elif call.last in ("eye", "tril_indices", "triu_indices"):
        dims = (None, None)
    else:
        if call.last in ("randint", "normal"):
            sizes = [v for v in call.arguments if type(v) is Sequence]
        dims = shapes.dims_from(sizes) if sizes else sized_by_keyword(call.keywords)
    made = with_gradients(
        tensor(device, shapes.dtype_argument(call.keywords, dtype), dims, False, varies), call.keywords
    )
    written = tensor_of(call.keywords.get("out"))
    if written is not None:
        made = made.but(device=written.device, dtype=written.dtype, certainty=written.certainty)
    check_generator(frame, call, made)
    check_factory(frame, call, made)
    return made


def sized_by_keyword(keywords: Keywords) -> tuple[int | None, ...] | None:
    size = keywords.get("size")
    return shapes.dims_from([size]) if size is not None else None


def single_size(last: str, arguments: Arguments) -> int | None:
    if last in ("arange", "randperm") and len(arguments) == 1 and type(arguments[0]) is Host:
        size = arguments[0].constant
        return size if type(size) is int else None
    return None


def bounds_of(last: str, arguments: Arguments, keywords: Keywords) -> list[Value]:
    """The bounds between which values are spaced. Measured: a device tensor among them is read, and a new number is no
    new graph."""
    if last not in ("linspace", "logspace"):
        return []
    return [*arguments[:2], *(keywords[name] for name in ("start", "end") if name in keywords)]


def read_number(frame: Frame, value: Value | None, node: ir.Call, subject: str) -> None:
    if type(value) is Tensor and value.device == XLA:
        frame.emit(Effect.TENSOR_AS_NUMBER, node.at, value, subject, None)


def make_tensor(frame: Frame, call: Call) -> Value:
    """``torch.tensor(data)``: each device scalar in the data is read."""
    data = call.arguments[0] if call.arguments else call.keywords.get("data", UNKNOWN)
    known = tensor_of(data)
    frame.pending()
    if known is not None and type(data) is not KnownObject:
        device = shapes.device_argument(call.keywords, known.device)
        moves = device == HOST and known.device == XLA and "device" in call.keywords
        if moves and ((known.certainty >= DECLARED and surely_tensor(data)) or not names_place_of_another(call.node)):
            frame.emit(Effect.COPY_TO_HOST, call.node.at, known, f"torch.{call.last}", first_argument(call.node))
        return known.but(device=device, dtype=shapes.dtype_argument(call.keywords, known.dtype), optional=False)
    device = shapes.device_argument(call.keywords)
    dtype: str | None = None
    dims: tuple[int | None, ...] | None = None
    if type(data) is Sequence:
        dtype, dims = of_elements(frame, call.last, data, call.node)
    elif type(data) is Host and data.type in ("int", "float", "bool"):
        dtype, dims = data.type, ()
    if device == XLA:
        frame.sign(SignKind.UPLOADED if is_told(data) else SignKind.MOVED, call.node.at)
        check_made(frame, data, device, call.node)
    made = tensor(device, shapes.dtype_argument(call.keywords, dtype), dims, False, size_kept(data))
    return with_gradients(made, call.keywords)


def is_told(data: Value) -> bool:
    """Numbers that the program itself counts or writes down, and none that were read."""
    held = data.element if type(data) is Sequence else data
    return type(held) is Host and not held.read_from_device and (held.known or held.varies is not None)


def with_gradients(made: Tensor, keywords: Keywords) -> Tensor:
    """``requires_grad=True``: gradients flow into it."""
    return made.but(grad=True) if keywords.get("requires_grad") is TRUE else made


def of_elements(
    frame: Frame, last: str, data: Sequence, node: ir.Call
) -> tuple[str | None, tuple[int | None, ...] | None]:
    element = data.element
    tell_width(frame, node.at, f"torch.{last}", longest_rows(element), first_argument(node))
    inner = tensor_of(element)
    if inner is not None and inner.live and surely_tensor(element) and last != "from_numpy":
        listed = node.arguments and type(node.arguments[0]) is ir.Display
        frame.emit(
            Effect.TENSOR_AS_NUMBER,
            node.at,
            element,
            "element",
            first_argument(node),
            form="list-of-tensors" if listed else "",
        )
    if type(element) is Host and element.type in ("int", "float", "bool"):
        return element.type, (len(data.elements) if data.elements is not None else None,)
    if inner is not None:
        return inner.dtype, (None,)
    if type(element) is Sequence:
        base = element.element
        kind = base.type if type(base) is Host and base.type in ("int", "float", "bool") else None
        return kind, (None, None) if type(base) is Host else None
    return None, None


def first_argument(node: ir.Call) -> ir.Expr | None:
    return node.arguments[0] if node.arguments else None


LEGACY = {
    "Tensor": "float",
    "FloatTensor": "float",
    "DoubleTensor": "float",
    "HalfTensor": "float",
    "BFloat16Tensor": "float",
    "LongTensor": "int",
    "IntTensor": "int",
    "ShortTensor": "int",
    "ByteTensor": "uint8",
    "BoolTensor": "bool",
}


def legacy_tensor(frame: Frame, call: Call) -> Value:
    """``torch.LongTensor(rows)`` or ``torch.LongTensor(2, 3)``: always on the host."""
    return made_by_type(frame, HOST, call)


def made_by_type(frame: Frame, device: str, call: Call) -> Value:
    dtype = LEGACY[call.last]
    if call.arguments and all(type(v) is Host and v.type in ("int", "size") for v in call.arguments):
        check_numbers(frame, call.named("empty"), False)
        return tensor(device, dtype, shapes.dims_from(call.arguments), False)
    made = make_tensor(frame, call)
    return made.but(device=device, dtype=dtype) if type(made) is Tensor else made


def from_numpy(frame: Frame, call: Call) -> Value:
    return tensor(HOST, grad=False, varies=size_kept(call.arguments[0]) if call.arguments else None)
