"""Subscripts: the host reads of indexing, and the shapes that it gives."""

from __future__ import annotations

from xlalint.facts.detectors.former_reads import former_read
from xlalint.facts.detectors.padding import tell_width
from xlalint.facts.domain.known_names import TEXT_KEYS
from xlalint.facts.domain.lattice import join_all, sequence
from xlalint.facts.domain.role import Role
from xlalint.facts.domain.row_lengths import width_among
from xlalint.facts.domain.values import (
    ANY_HOST,
    DATA,
    NONE,
    NUMPY,
    SHORTEST,
    SIZE,
    STR,
    TENSOR_ROLES,
    UNKNOWN,
    XLA,
    Bound,
    Host,
    Instance,
    KnownObject,
    Mapping,
    Module,
    Sequence,
    Struct,
    Tensor,
    Union,
    Value,
    host,
    surely_tensor,
    tensor,
    tensor_of,
)
from xlalint.facts.events import Effect
from xlalint.facts.interpreter.tensor_subscripts import index_tensor, is_channel, is_free_to_mask
from xlalint.facts.libraries.torch import optimizer_state
from xlalint.facts.operations import members
from xlalint.facts.state.frame import Frame
from xlalint.program import ir


def subscript(frame: Frame, value: Value, index: ir.Expr, node: ir.Subscript) -> Value:
    if isinstance(value, Tensor):
        return former_read(frame, value, node) or index_tensor(frame, value, index, node)
    if isinstance(value, Sequence):
        return index_sequence(frame, value, index, node)
    if isinstance(value, Union):
        parts = [part for part in value.alternatives if part is not NONE]
        return join_all([subscript(frame, part, index, node) for part in indexable(frame, parts, index)])
    if isinstance(value, Mapping):
        return index_mapping(frame, value, index)
    if isinstance(value, Module):
        return index_module(frame, value, index, node)
    key = frame.evaluate(index)
    cut_row(frame, index, node)
    if isinstance(value, Host):
        return index_host(frame, value, index)
    if isinstance(value, (Instance, Struct)) and members.has_method(frame, value, "__getitem__"):
        return members.call_special_method(frame, value, "__getitem__", [key], node.at)
    if isinstance(value, Struct) and isinstance(key, Host) and key.known:
        return index_struct(frame, value, key, node)
    if masks_unknown(frame, value, key, index, node, Effect.BOOLEAN_INDEX):
        return tensor(certainty=1, varies=DATA, along=0)
    if isinstance(value, KnownObject):
        if is_tensor_cut(value, index):
            assert isinstance(value.element, Tensor)
            return index_tensor(frame, value.element, index, node)
        return index_known_object(frame, value, key)
    return UNKNOWN


def cut_row(frame: Frame, index: ir.Expr, node: ir.Subscript) -> None:
    """``row[:shortest]``: every row of a batch is as long as its shortest."""
    for item in index.elements if type(index) is ir.Display else (index,):
        upper = item.upper if type(item) is ir.Slice else None
        width = width_among((frame.env.get(upper.name, NONE),)) if type(upper) is ir.Name else None
        if width is not None and width[1] == SHORTEST[1]:
            tell_width(frame, node.at, "slice", width, upper)


def is_tensor_cut(value: KnownObject, index: ir.Expr) -> bool:
    """A batch that is cut by dimensions, or one that was moved to the device and is cut, is a tensor: no dict and no
    list takes such a key, or can be moved."""
    if value.role not in TENSOR_ROLES or not isinstance(value.element, Tensor):
        return False
    if type(index) is ir.Slice:
        return value.role == Role.BATCH and value.element.device == XLA
    return type(index) is ir.Display and any(type(part) is ir.Slice for part in index.elements)


def index_known_object(frame: Frame, value: KnownObject, key: Value) -> Value:
    if value.role == Role.BATCH and isinstance(key, Host) and key.constant in TEXT_KEYS:
        return sequence("list", None, STR)
    if value.role in TENSOR_ROLES or value.role == Role.PARAMETER_GROUPS:
        return value.element or UNKNOWN
    return optimizer_state.state_of_parameter(frame) if value.role == optimizer_state.ROLE else UNKNOWN


def indexable(frame: Frame, parts: list[Value], index: ir.Expr) -> list[Value]:
    """What takes the index: a tensor of several picks from a tensor, and no list takes it."""
    kinds = {type(part) for part in parts}
    if Tensor not in kinds or Sequence not in kinds or type(index) in (ir.Constant, ir.Slice, ir.Display):
        return parts
    frame.quiet += 1
    key = tensor_of(frame.evaluate(index))
    frame.quiet -= 1
    return parts if key is None or key.rank == 0 else [part for part in parts if type(part) is not Sequence]


def masks_unknown(frame: Frame, value: Value, key: Value, index: ir.Expr, node: ir.Subscript, effect: Effect) -> bool:
    """What is indexed by a mask on the device can be nothing but a tensor."""
    known = tensor_of(key)
    if known is None or known.dtype != "bool" or known.device != XLA or not surely_tensor(key):
        return False
    structure = type(value) is KnownObject and value.role in TENSOR_ROLES
    if not structure and value is not UNKNOWN and type(value) is not Bound:
        return False
    if not is_free_to_mask(frame, effect):
        frame.emit(effect, node.at, known, "mask", index, certainty=1)
    frame.pending()
    return True


def index_struct(frame: Frame, value: Struct, key: Host, node: ir.Subscript) -> Value:
    if key.type == "str":
        return value.get(key.constant) or UNKNOWN
    fields = [field for _, field in value.fields if field is not NONE]
    position = key.constant
    if type(position) is not int or not 0 <= position < len(fields):
        return UNKNOWN
    before = fields[:position]
    if any((type(f) is Tensor and f.optional) or f is UNKNOWN for f in before):
        return UNKNOWN
    return fields[position]


def index_host(frame: Frame, value: Host, index: ir.Expr) -> Value:
    if value.type == "size":
        if value.varies == DATA and type(index) is ir.Constant and index.value == 0:
            # The first dimension of what a mask selects.
            return host("int", varies=DATA)
        return SIZE if type(index) is ir.Slice else members.element_of(frame, value)
    if value.type == "numpy":
        items = index.elements if type(index) is ir.Display else (index,)
        bounds = (b for item in items if type(item) is ir.Slice for b in (item.lower, item.upper) if b is not None)
        return value if value is NUMPY or all(map(is_channel, bounds)) else NUMPY
    if value.type == "str":
        return STR
    return UNKNOWN if value.type in ("int", "float") else ANY_HOST


def index_mapping(frame: Frame, value: Mapping, index: ir.Expr) -> Value:
    key = frame.evaluate(index)
    if type(key) is Host and key.known:
        found = value.get(key.constant)
        if found is not None:
            return found
        return value.rest if value.rest is not None else UNKNOWN
    everything = [item for _, item in value.items]
    if value.rest is not None:
        everything.append(value.rest)
    return join_all(everything)


def index_sequence(frame: Frame, value: Sequence, index: ir.Expr, node: ir.Subscript) -> Value:
    if type(index) is ir.Slice:
        return slice_sequence(frame, value, index, node)
    key = frame.evaluate(index)
    known = tensor_of(key)
    several = known is not None and known.rank != 0
    if several and masks_unknown(frame, UNKNOWN, key, index, node, Effect.BOOLEAN_INDEX):
        # No list can be indexed by a mask: what was taken for one is a tensor.
        return tensor(certainty=1, varies=DATA, along=0)
    if known is not None and known.live and surely_tensor(key):
        frame.emit(Effect.TENSOR_AS_NUMBER, node.at, key, "list index", index)
    if value.elements is not None and type(key) is Host and type(key.constant) is int:
        try:
            return value.elements[key.constant]
        except IndexError:
            return UNKNOWN
    element = value.element
    if value.elements is None and type(key) is Host and key.varies and type(element) is Host:
        # Of a list that is not written out, each step takes another number.
        return (
            host(element.type, varies=key.varies, read_from_device=element.read_from_device)
            if element.type in NUMBERS
            else element
        )
    return element


NUMBERS = frozenset({"int", "float"})


def slice_sequence(frame: Frame, value: Sequence, index: ir.Slice, node: ir.Subscript) -> Value:
    bounds: list[int | None] = []
    for bound in (index.lower, index.upper, index.step):
        key: Value = NONE if bound is None else frame.evaluate(bound)
        known = tensor_of(key)
        if known is not None and known.live and surely_tensor(key):
            frame.emit(Effect.TENSOR_AS_NUMBER, node.at, key, "slice bound", bound)
        if key is NONE:
            bounds.append(None)
        elif type(key) is Host and type(key.constant) is int:
            bounds.append(key.constant)
        else:
            return sequence(value.kind, None, value.element)
    if value.elements is None or bounds[2] == 0:
        return sequence(value.kind, None, value.element)
    return sequence(value.kind, value.elements[slice(*bounds)])


def index_module(frame: Frame, value: Module, index: ir.Expr, node: ir.Subscript) -> Value:
    key = frame.evaluate(index)
    if type(index) is ir.Slice:
        return value
    known = tensor_of(key)
    if known is not None and known.live and surely_tensor(key) and value.name.endswith("List"):
        frame.emit(Effect.TENSOR_AS_NUMBER, node.at, key, "module index", index)
    elements = value.elements
    if type(elements) is Sequence:
        known_elements = elements.elements or ()
        place = key.constant if type(key) is Host else None
        if type(place) is int and -len(known_elements) <= place < len(known_elements):
            return known_elements[place]
        return elements.element
    if type(elements) is Mapping:
        return index_mapping(frame, elements, index)
    return elements or UNKNOWN
