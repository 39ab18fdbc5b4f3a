"""Python numbers as graph constants: a device tensor in their place is read, a changing number compiles a new graph."""

from __future__ import annotations

from collections import abc
from typing import TypeVar

from xlalint.facts.detectors.padding import tell_width
from xlalint.facts.domain.row_lengths import width_among
from xlalint.facts.domain.values import (
    NONE,
    XLA,
    LoopKey,
    Sequence,
    Tensor,
    Value,
    alternatives,
    host,
    surely_tensor,
    tensor_of,
)
from xlalint.facts.domain.variation import is_drawn, is_read_size
from xlalint.facts.events import Effect
from xlalint.facts.operations.shapes import varying
from xlalint.facts.state.call import Call
from xlalint.facts.state.frame import Frame
from xlalint.facts.state.roots import root_of
from xlalint.program import ir

T = TypeVar("T")

SIZES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("zeros", "ones", "empty", "rand", "randn", "eye", "randperm"), ("*", "size", "n")),
    **dict.fromkeys(("arange", "range"), ("*", "start", "end", "step")),
    **dict.fromkeys(("linspace", "logspace"), ("2", "steps")),
    "full": ("0", "size"),
    "randint": ("size",),
    "tril_indices": ("*",),
    "triu_indices": ("*",),
    **dict.fromkeys(("view", "reshape", "expand", "repeat", "tile", "resize_"), ("*", "size", "shape")),
    **dict.fromkeys(("new_zeros", "new_ones", "new_empty", "new"), ("*", "size")),
    "new_full": ("0", "size"),
    **dict.fromkeys(("split", "chunk"), ("0", "split_size_or_sections", "chunks")),
    "narrow": ("1", "2", "start", "length"),
    "select": ("1", "index"),
    "topk": ("0", "k"),
    "roll": ("0", "shifts"),
    **dict.fromkeys(("tril", "triu", "diagonal"), ("0", "diagonal", "offset")),
    "unflatten": ("1", "sizes"),
    "pad": ("0", "pad"),
    "interpolate": ("0", "1", "size", "scale_factor"),
    "one_hot": ("0", "num_classes"),
    **dict.fromkeys(("diag", "diag_embed"), ("0", "diagonal", "offset")),
}
"""Arguments (after the tensor, by position or name; ``*`` all) that become part of the graph's shape or constants.
Measured: a new value of any of them is a new graph; a number in ``+ - * /``, ``clamp``, ``full``'s value is not."""

RECUT = frozenset({"view", "reshape", "unflatten"})
"""The ops that keep the number of elements."""
LISTED = frozenset({"split"})
"""The ops that are given a list of sizes as often as one. Measured: a tensor of several sizes raises there, so what is
only taken for a tensor, and has no known rank, is a list."""
RESIZING = frozenset({"interpolate", "upsample"})
"""The ops that give all images of a batch another size."""
FILLED = frozenset({"zeros", "ones", "empty", "full", "new_zeros", "new_ones", "new_empty", "new_full", "new", "pad"})
"""The ops that make a batch, or lengthen its rows, to be filled."""

BAKED: dict[str, tuple[str, ...]] = {
    **SIZES,
    "pow": ("0", "exponent"),
    "norm": ("0", "p"),
    "normalize": ("0", "p"),
    **dict.fromkeys(("layer_norm", "group_norm"), ("eps",)),
    "logit": ("0", "eps"),
    "dist": ("1", "p"),
    "kthvalue": ("0", "k"),
    "threshold": ("0", "1", "threshold", "value"),
    "pad": ("0", "2", "pad", "value"),
    "batch_norm": ("momentum", "eps"),
}


def check_numbers(
    frame: Frame,
    call: Call,
    live: bool,
    own: LoopKey | None = None,
) -> LoopKey | None:
    """``arguments`` are those after the tensor. Gives the loop that changes the result's shape, if one does.

    ``own`` is the loop that changes the tensor's own shape: what is only cut anew has to follow it.
    """
    base = call.name[:-1] if call.name.endswith("_") and call.name[:-1] in BAKED else call.name
    if base not in BAKED:
        return None
    sized = arguments_at(SIZES.get(base, ()), call.arguments, call.keywords)
    for value in sized:
        if reads_as_size(value) and not (base in LISTED and may_be_several(value)):
            frame.emit(Effect.TENSOR_AS_NUMBER, call.node.at, tensor_within(value), f"size of {base}", None)
            return None
    if base in FILLED:
        tell_width(frame, call.node.at, base, width_among(sized))
    baked = varying(arguments_at(BAKED.get(base, ()), call.arguments, call.keywords), base in RESIZING)
    if is_read_size(baked):
        # The file is as large as it is before: that is told of whom it is given to.
        return baked
    if baked is not None and live and is_drawn(baked) and base in RESIZING:
        frame.emit(Effect.VARYING_BATCH, call.node.at, NONE, base, None, certainty=1, varies=baked)
    elif baked is not None and live and not (base in RECUT and baked == own):
        number = host("int", varies=baked)
        root = root_of(frame, Effect.BAKED_NUMBER, baked_node(call, BAKED[base], baked))
        frame.emit(Effect.BAKED_NUMBER, call.node.at, number, base, None, varies=baked, root=root)
    return varying(sized)


def baked_node(call: Call, places: tuple[str, ...], baked: LoopKey) -> ir.Expr | None:
    """Which of a call's arguments is the number; of a function the tensor comes before them."""
    first = max(0, len(call.node.arguments) - len(call.arguments))
    keywords = {name: node for name, node in call.node.keywords if name is not None}
    nodes = arguments_at(places, call.node.arguments[first:], keywords)
    values = arguments_at(places, call.arguments, call.keywords)
    return next((node for node, value in zip(nodes, values, strict=False) if varying([value]) == baked), None)


def arguments_at(places: tuple[str, ...], arguments: abc.Sequence[T], keywords: abc.Mapping[str, T]) -> list[T]:
    """Of a call's arguments, be they values or expressions, those in ``places``."""
    found: list[T] = []
    for place in places:
        if place == "*":
            found.extend(arguments)
        elif place.isdigit():
            found.extend(arguments[int(place) : int(place) + 1])
        elif place in keywords:
            found.append(keywords[place])
    return found


def reads_as_size(value: Value) -> bool:
    if type(value) is Sequence:
        parts = value.elements if value.elements is not None else (value.element,)
        return any(reads_on_device(part) for part in parts)
    known = tensor_of(value)
    if known is None or not surely_tensor(value):
        return False
    return known.device == XLA or (known.live and known.certainty > 0)


def may_be_several(value: Value) -> bool:
    return type(value) is not Sequence and any(type(p) is Tensor and p.rank is None for p in alternatives(value))


def reads_on_device(value: Value) -> bool:
    known = tensor_of(value)
    return known is not None and known.device == XLA and surely_tensor(value)


def tensor_within(value: Value) -> Value:
    if type(value) is Sequence:
        return next((p for p in (value.elements or (value.element,)) if tensor_of(p) is not None), value)
    return value
