"""Subscripts of tensors: what an index reads on the host, and the shape that it gives."""

from __future__ import annotations

from typing import TypeAlias

from xlalint.facts.detectors import fallbacks
from xlalint.facts.detectors.padding import tell_width
from xlalint.facts.detectors.uploads import check_index
from xlalint.facts.domain.lattice import MASKS, join_varies
from xlalint.facts.domain.row_lengths import is_mark, width_among
from xlalint.facts.domain.values import (
    DATA,
    HOST,
    NONE,
    XLA,
    Host,
    LoopKey,
    Sequence,
    Tensor,
    Value,
    of_rank,
    surely_tensor,
    tensor_of,
)
from xlalint.facts.domain.variation import is_read_size, is_rounded_draw
from xlalint.facts.events import Effect
from xlalint.facts.state.frame import Frame
from xlalint.facts.state.reaching import assignment_of
from xlalint.facts.state.recorder import SHOWN
from xlalint.program import ir
from xlalint.program.last_turn import is_one_turn
from xlalint.program.traversal import called_name, last_name

Step: TypeAlias = tuple[str, "int | None"]


class Indexed:
    """What the items of one index do to the shape."""

    __slots__ = ("advanced", "along", "dropped", "inserted", "masked", "settled", "steps", "unclear", "varies")

    def __init__(self) -> None:
        self.dropped = 0
        self.inserted = 0
        self.advanced: int | None = None
        self.unclear = False
        self.masked = False
        self.settled = False
        """Cut to a size that may be the same for whatever file."""
        self.varies: LoopKey | None = None
        self.along: int | None = None
        """The dimension of the result that the index makes vary, counted from the first."""
        self.steps: list[Step] = []
        """What the items do to one dimension after the other, those that pick by several positions left out."""


def index_tensor(
    frame: Frame, value: Tensor, index: ir.Expr, node: ir.Subscript, store: bool = False, form: str = ""
) -> Tensor:
    state = Indexed()
    items = index.elements if type(index) is ir.Display and index.kind == "tuple" else (index,)
    for item in items:
        if type(item) is ir.Slice:
            slice_bounds(frame, value, item, node, state, store)
        elif type(item) is ir.Constant:
            constant_item(item, state)
        else:
            key = frame.evaluate(item)
            parts = key.elements if type(key) is Sequence and key.kind == "tuple" and len(items) == 1 else None
            for part in parts if parts is not None else (key,):
                index_item(frame, value, part, item, node, state, store, form)
    if not store:
        frame.pending()
    return indexed_result(value, state)


def indexed_result(value: Tensor, state: Indexed) -> Tensor:
    dims: tuple[int | None, ...] | None = None
    if value.dims is not None and not state.unclear:
        rank = len(value.dims) - state.dropped + state.inserted + (state.advanced or 0)
        if state.advanced is None:
            dims = stepped(value.dims, state.steps)
        elif rank >= 0:
            dims = of_rank(rank)
    kept, along = kept_variation(value, state)
    varies = DATA if state.masked else join_varies(kept, state.varies)
    if kept is not None and (state.masked or state.varies is not None):
        along = along if along == state.along else None
    elif kept is None:
        along = state.along
    return value.but(dims=dims, varies=varies, optional=False, along=along)


def kept_variation(value: Tensor, state: Indexed) -> tuple[LoopKey | None, int | None]:
    """What made a tensor vary, and where that dimension stands in what an index leaves of it."""
    along = value.along
    if state.settled and is_read_size(value.varies):
        return None, None
    if along is None or state.advanced is not None or state.unclear:
        return value.varies, None
    taken, left = 0, 0
    for kind, _ in state.steps:
        if kind == "rest":
            return value.varies, None
        if kind != "insert" and taken == along:
            return (None, None) if kind == "drop" else (value.varies, left)
        taken += kind != "insert"
        left += kind != "drop"
    return value.varies, along - taken + left


def next_dimension(state: Indexed) -> int | None:
    """Where the dimension that comes next stands in the result; None behind ``...`` and positions."""
    if state.advanced is not None or state.unclear or any(kind == "rest" for kind, _ in state.steps):
        return None
    return sum(kind != "drop" for kind, _ in state.steps)


def stepped(dims: tuple[int | None, ...], steps: list[Step]) -> tuple[int | None, ...] | None:
    """The sizes that slices, positions, ``None`` and ``...`` leave."""
    taken = sum(kind in ("drop", "keep", "cut") for kind, _ in steps)
    if taken > len(dims):
        return None
    left = list(dims)
    found: list[int | None] = []
    for kind, size in steps:
        if kind == "insert":
            found.append(1)
        elif kind == "rest":
            found += left[: len(dims) - taken]
            del left[: len(dims) - taken]
        else:
            first = left.pop(0)
            found += [first] if kind == "keep" else [size] if kind == "cut" else []
    return (*found, *left)


def length_of_cut(item: ir.Slice) -> int | None:
    """``x[2:3]`` leaves one; a longer slice leaves fewer where there are no more."""
    start = 0 if item.lower is None else number_of(item.lower)
    end = None if item.upper is None else number_of(item.upper)
    if start is None or end is None or item.step is not None:
        return None
    return 1 if start >= 0 and end == start + 1 else None


def number_of(node: ir.Expr) -> int | None:
    return node.value if type(node) is ir.Constant and type(node.value) is int else None


def constant_item(item: ir.Constant, state: Indexed) -> None:
    if item.value is None:
        state.inserted += 1
        state.steps.append(("insert", None))
    elif item.value is ...:
        state.steps.append(("rest", None))
    else:
        state.dropped += 1
        state.steps.append(("drop", None))


def slice_bounds(frame: Frame, value: Tensor, item: ir.Slice, node: ir.Subscript, state: Indexed, store: bool) -> None:
    whole = item.lower is None and item.upper is None and item.step is None
    position = next_dimension(state)
    one_turn = is_one_turn(frame.function, item)
    state.steps.append(("keep", None) if whole else ("cut", 1 if one_turn else length_of_cut(item)))
    for bound in (item.lower, item.upper, item.step):
        if bound is None:
            continue
        key = frame.evaluate(bound)
        known = tensor_of(key)
        open_ = item.lower is None or item.upper is None
        follows = is_channel(bound) or (open_ and type(key) is Host and is_read_size(key.varies))
        state.settled = state.settled or not follows
        if known is not None and known.live and value.live and surely_tensor(key):
            frame.emit(Effect.TENSOR_AS_NUMBER, node.at, key, "slice bound", bound)
        elif type(key) is Host and (is_mark(key.varies) or is_rounded_draw(key.varies)):
            if not store and bound is item.upper and type(bound) is ir.Name and not is_padded(frame):
                tell_width(frame, node.at, "slice", width_among((key,)), bound)
        elif type(key) is Host and key.varies is not None and value.live and not is_what_is_left(frame, bound):
            frame.emit(Effect.BAKED_NUMBER, node.at, key, "slice", bound, varies=key.varies)
            if not one_turn:
                state.along = position if state.varies is None else None
                state.varies = key.varies


def is_what_is_left(frame: Frame, bound: ir.Expr) -> bool:
    """``x[: max(0, most - seen)]``: until so much was seen, the slice is the whole."""
    assigned = assignment_of(frame, bound.name) if type(bound) is ir.Name else None
    node = bound if assigned is None else assigned.value
    if type(node) is not ir.Call or called_name(node) != "max" or len(node.arguments) != 2:
        return False
    zeros = [type(part) is ir.Constant and part.value == 0 for part in node.arguments]
    other = node.arguments[zeros.index(False)] if any(zeros) and not all(zeros) else None
    return type(other) is ir.Binary and other.operator == "sub"


def is_channel(bound: ir.Expr) -> bool:
    """``x[:, :3]``: no more than an image has channels."""
    while type(bound) is ir.Unary:
        bound = bound.operand
    return type(bound) is ir.Constant and type(bound.value) is int and bound.value <= CHANNELS


CHANNELS = 4


def is_padded(frame: Frame) -> bool:
    """Whether a batch as long as its longest row was made before: a row that is cut to it has its length from there."""
    return any(event.effect is Effect.PADDED_TO_LONGEST for event in frame.record.events.values())


def index_item(
    frame: Frame,
    value: Tensor,
    key: Value,
    item: ir.Expr,
    node: ir.Subscript,
    state: Indexed,
    store: bool,
    form: str,
) -> None:
    known = tensor_of(key)
    check_index(frame, value, key, item, node)
    if known is not None and (type(key) is Tensor or surely_tensor(key)):
        index_by_tensor(frame, value, known, item, node, state, store, form)
    elif type(key) is Host:
        if key.type == "numpy" and (type(item) is ir.Compare or spelled_as_mask(item)):
            mask_from_host(frame, value, key, item, node, store)
        index_by_host(frame, value, key, item, node, state)
    elif type(key) is Sequence:
        if holds_truths(key):
            mask_from_host(frame, value, key, item, node, store)
        state.dropped += 1
        state.advanced = max(state.advanced or 0, 1)
    else:
        state.unclear = True


def holds_truths(key: Sequence) -> bool:
    """``[True, False]``, ``[kind == "linear" for kind in kinds]``."""
    elements = (key.element,) if key.elements is None else key.elements
    return bool(elements) and all(type(each) is Host and each.type == "bool" for each in elements)


def mask_from_host(frame: Frame, value: Tensor, key: Value, item: ir.Expr, node: ir.Subscript, store: bool) -> None:
    """Measured: a list of bools and a mask of numpy go to the device first, and are counted there as a mask of the
    device is; a host tensor of bools, and a list of integers, cost nothing."""
    effect = Effect.BOOLEAN_ASSIGN if store else Effect.BOOLEAN_INDEX
    if value.live and value.device == XLA and not is_free_to_mask(frame, effect):
        frame.emit(effect, node.at, key, "mask", item, certainty=SHOWN[value.certainty], form="mask-from-host")


def index_by_host(frame: Frame, value: Tensor, key: Host, item: ir.Expr, node: ir.Subscript, state: Indexed) -> None:
    if key.type in ("int", "bool", "?"):
        state.dropped += 1
        state.steps.append(("drop", None))
        if key.varies is not None and not is_rounded_draw(key.varies) and value.live and key.type == "int":
            frame.emit(Effect.BAKED_NUMBER, node.at, key, "index", item, form="scalar-index", varies=key.varies)
    elif key is NONE:
        state.inserted += 1
        state.steps.append(("insert", None))
    elif key.type in ("numpy", "range"):
        state.dropped += 1
        state.advanced = max(state.advanced or 0, 1)
    elif key.type == "ellipsis":
        state.steps.append(("rest", None))
    else:
        state.unclear = True


def index_by_tensor(
    frame: Frame,
    value: Tensor,
    key: Tensor,
    item: ir.Expr,
    node: ir.Subscript,
    state: Indexed,
    store: bool,
    form: str,
) -> None:
    if key.dtype in MASKS or (key.dtype is None and spelled_as_mask(item)):
        # A mask on the host is counted there, without asking the device, and goes up as indices.
        if key.live and value.device != HOST:
            effect = Effect.BOOLEAN_ASSIGN if store else Effect.BOOLEAN_INDEX
            if not is_free_to_mask(frame, effect):
                frame.emit(effect, node.at, key, "mask", item, form=form)
        state.along = None if state.masked or state.varies is not None else next_dimension(state)
        state.masked = state.masked or key.live or not value.live
        state.advanced = max(state.advanced or 0, 1)
        if key.rank is None:
            state.unclear = True
        else:
            state.dropped += key.rank
    elif key.rank == 0:
        if key.live:
            argmax = type(item) is ir.Call and type(item.function) is ir.Attribute and item.function.name == "argmax"
            frame.emit(Effect.ZERO_DIM_INDEX, node.at, key, "index", item, form="argmax" if argmax else "")
        state.dropped += 1
        state.advanced = state.advanced or 0
    else:
        state.dropped += 1
        state.unclear = state.unclear or key.rank is None
        state.advanced = max(state.advanced or 0, key.rank or 1)


def is_free_to_mask(frame: Frame, effect: Effect) -> bool:
    """On the device that the code is for, by its profile."""
    return fallbacks.is_free(
        frame, "torch.index_put" if effect is Effect.BOOLEAN_ASSIGN else "torch.Tensor.__getitem__"
    )


JOINING = frozenset({"cat", "concat", "concatenate", "stack"})


def spelled_as_mask(node: ir.Expr) -> bool:
    """An index of unknown dtype that its spelling makes a mask: ``~x``, ``a & b``, a name that says so."""
    if type(node) is ir.Unary:
        return node.operator == "invert"
    if type(node) is ir.Binary:
        return node.operator in ("and", "or") and (spelled_as_mask(node.left) or spelled_as_mask(node.right))
    if type(node) is ir.Call:
        function = node.function
        joins = isinstance(function, (ir.Name, ir.Attribute)) and function.name in JOINING
        return joins and bool(node.arguments) and spelled_as_mask(node.arguments[0])
    if type(node) is ir.Display:
        return bool(node.elements) and all(map(spelled_as_mask, node.elements))
    if type(node) is ir.Subscript:
        return spelled_as_mask(node.value)
    name = last_name(node)
    return name.endswith(("mask", "masks")) and "attention" not in name
