"""Assignment: to names, patterns, attributes, elements of containers and of tensors."""

from __future__ import annotations

from xlalint.facts.detectors.environment import check_assigned
from xlalint.facts.detectors.loss import as_used
from xlalint.facts.domain.known_names import is_without_gradient
from xlalint.facts.domain.lattice import join, join_all, join_maybe, sequence
from xlalint.facts.domain.refinement import as_operand
from xlalint.facts.domain.role import Role
from xlalint.facts.domain.values import (
    DECLARED,
    FALSE,
    HOST,
    KNOWN,
    NONE,
    NUMPY,
    SIZE,
    TENSOR_ROLES,
    XLA,
    Function,
    Host,
    Instance,
    KnownObject,
    Mapping,
    Module,
    Sequence,
    Struct,
    Tensor,
    Value,
    alternatives,
    known_object,
    mapping,
    module_value,
    of_rank,
    surely_tensor,
    tensor_of,
)
from xlalint.facts.events import Effect
from xlalint.facts.interpreter import subscripts
from xlalint.facts.interpreter.tensor_subscripts import index_tensor
from xlalint.facts.libraries.python.named_attributes import set_fields
from xlalint.facts.operations import members
from xlalint.facts.operations.given_objects import set_field
from xlalint.facts.operations.numpy_uses import as_used_by_numpy
from xlalint.facts.state.frame import Frame
from xlalint.facts.state.roots import root_of
from xlalint.facts.state.store import store
from xlalint.program import ir


def assign(frame: Frame, target: ir.Expr, value: Value, source: ir.Expr | None) -> None:
    if isinstance(target, ir.Name):
        frame.bind(target.name, as_named(frame, target.name, value))
    elif isinstance(target, ir.Display):
        unpack_into(frame, target, value, source)
    elif isinstance(target, ir.Attribute):
        assign_attribute(frame, target, value)
    elif isinstance(target, ir.Subscript):
        assign_subscript(frame, target, value)
    elif isinstance(target, ir.Starred):
        assign(frame, target.value, value, None)


def as_named(frame: Frame, name: str, value: Value) -> Value:
    """What a name is bound to, by what it is used for and, where it is not surely a tensor, by what it is called."""
    value = as_used_by_numpy(frame, name, as_used(frame, name, value))
    if type(value) is Tensor and value.grad and value.certainty < KNOWN and is_without_gradient(name):
        return value.but(grad=False)
    return value


def unpack_into(frame: Frame, target: ir.Display, value: Value, source: ir.Expr | None) -> None:
    names = target.elements
    count = len(names)
    starred = any(type(name) is ir.Starred for name in names)
    value = listed(value)
    if type(value) is Sequence and value.elements is not None and len(value.elements) == count and not starred:
        for name, element in zip(names, value.elements, strict=False):
            assign(frame, name, element, None)
        return
    if type(value) is Host and value.type == "size" and source is not None and not starred:
        learn_rank(frame, source, count)
    for i, name in enumerate(names):
        if type(name) is ir.Starred:
            rest = SIZE if value is SIZE else sequence("list", None, members.element_of(frame, value))
            assign(frame, name.value, rest, None)
        else:
            assign(frame, name, unpacked_element(frame, value, i, count), None)


NOT_UNPACKED = frozenset({Module, Instance, Struct, Function})


def listed(value: Value) -> Value:
    """A ``ModuleList`` is unpacked as the list that it was made of."""
    return value.elements if type(value) is Module and type(value.elements) is Sequence else value


def unpacked_element(frame: Frame, value: Value, position: int, count: int) -> Value:
    parts = []
    given = alternatives(value)
    several = any(type(part) is Sequence for part in given)
    for part in given:
        if part is NONE or (several and type(part) in NOT_UNPACKED):
            # ``model, codec = made(kind)``: of what may be returned, that which can be unpacked.
            continue
        part = listed(part)
        if type(part) is Sequence and part.elements is not None and position < len(part.elements):
            parts.append(part.elements[position])
        else:
            parts.append(members.element_of(frame, part))
    return join_all(parts)


def learn_rank(frame: Frame, source: ir.Expr, rank: int) -> None:
    """``b, s, h = x.shape`` tells the rank of x."""
    attribute = source.function if type(source) is ir.Call else source
    if type(attribute) is not ir.Attribute or type(attribute.value) is not ir.Name:
        return
    known = frame.env.get(attribute.value.name)
    if type(known) is Tensor and known.rank is None:
        frame.env[attribute.value.name] = known.but(dims=of_rank(rank), along=known.along)


def assign_attribute(frame: Frame, target: ir.Attribute, value: Value) -> None:
    holder = frame.evaluate(target.value)
    base = target.value
    if type(base) is ir.Name and base.name == "self":
        frame.bind(f"self.{target.name}", value)
        frame.writes[target.name] = join_maybe(frame.writes.get(target.name), value) or value
    elif target.name == "requires_grad" and type(base) is ir.Name and type(held := as_operand(holder)) is Tensor:
        frame.env[base.name] = held.but(grad=value is not FALSE)
    elif isinstance(holder, (Instance, Struct)) and type(base) is ir.Name:
        set_field(frame, base.name, holder, target.name, value)
    elif type(base) is ir.Name and type(holder) is Module and type(holder.elements) is Mapping:
        items = dict(holder.elements.items)
        items[target.name] = value
        frame.env[base.name] = module_value(holder.name, mapping(tuple(items.items()), holder.elements.rest))


def assign_subscript(frame: Frame, target: ir.Subscript, value: Value) -> None:
    holder = frame.evaluate(target.value)
    if type(holder) is KnownObject and holder.role in TENSOR_ROLES and cuts(target.index):
        # A batch that is indexed so is a tensor.
        holder = holder.element or holder
    known = tensor_of(holder) if type(holder) is not KnownObject else None
    if known is not None:
        store_in_tensor(frame, target, known, value)
    elif type(holder) is Mapping:
        key = frame.evaluate(target.index)
        if type(target.value) is ir.Attribute and target.value.name == "__dict__":
            set_fields(frame, target.value.value, mapping_with(mapping(), key, value), target.at)
        else:
            store(frame, target.value, mapping_with(holder, key, value))
    elif type(holder) is KnownObject and holder.role == Role.BATCH and type(target.value) is ir.Name:
        frame.env[target.value.name] = batch_with(holder, frame.evaluate(target.index), value)
    elif type(holder) is Sequence:
        key = frame.evaluate(target.index)
        number = tensor_of(key)
        if number is not None and number.live and surely_tensor(key):
            frame.emit(Effect.TENSOR_AS_NUMBER, target.at, key, "list index", target.index)
        store(frame, target.value, sequence(holder.kind, None, join_maybe(appended(holder), value)))
    elif isinstance(holder, (Instance, Struct)):
        members.call_special_method(frame, holder, "__setitem__", [frame.evaluate(target.index), value], target.at)
    elif type(holder) is Module and type(holder.elements) is Mapping:
        held = mapping_with(holder.elements, frame.evaluate(target.index), value)
        store(frame, target.value, module_value(holder.name, held, holder.costs))
    else:
        key = frame.evaluate(target.index)
        check_assigned(frame, holder, key, value, target)
        subscripts.masks_unknown(frame, holder, key, target.index, target, Effect.BOOLEAN_ASSIGN)
        element = tensor_of(value)
        if holder is NUMPY and element is not None and element.live and surely_tensor(value):
            frame.emit(Effect.VALUES_TO_LIST, target.at, value, "numpy element", target)


def cuts(index: ir.Expr) -> bool:
    """``[:, a:b]``: no dict and no list takes such a key."""
    return type(index) is ir.Display and any(type(part) is ir.Slice for part in index.elements)


def store_in_tensor(frame: Frame, target: ir.Subscript, known: Tensor, value: Value) -> None:
    form = ""
    if type(value) is Host and value.type in ("int", "float", "bool"):
        form = "scalar-value"
        index = target.index
        if type(index) is not ir.Display and known.dims is not None:
            key = frame.evaluate(index)
            if type(key) is Tensor and key.dims == known.dims and None not in known.dims:
                form = "scalar-value-same-shape"
    index_tensor(frame, known, target.index, target, store=True, form=form)
    frame.pending()
    # What is only likely to be a tensor, a loader's batch, takes what it is given where it lies: it is a dict.
    surely_host = known.device == HOST and known.certainty >= DECLARED
    if type(value) is Tensor and value.grad and not known.grad and type(target.value) is ir.Name:
        frame.env[target.value.name] = known.but(grad=True)
    if surely_host and type(value) is Tensor and value.device == XLA and value.certainty >= DECLARED:
        root = root_of(frame, Effect.COPY_TO_HOST, target.value)
        frame.emit(Effect.COPY_TO_HOST, target.at, value, "element of a host tensor", target, root=root)


def batch_with(batch: KnownObject, key: Value, value: Value) -> Value:
    """``for k in batch: batch[k] = batch[k].to(device)``: under a key that is not known, it may be any entry."""
    held, given = tensor_of(batch.element), tensor_of(as_operand(value))
    if held is None or given is None or (type(key) is Host and key.known):
        return batch
    return known_object(batch.role, join(held, given), batch.detail)


def mapping_with(holder: Mapping, key: Value, value: Value) -> Value:
    if type(key) is Host and key.known:
        items = dict(holder.items)
        items[key.constant] = value
        return mapping(tuple(items.items()), holder.rest)
    return mapping(holder.items, join_maybe(holder.rest, value))


def appended(value: Sequence) -> Value | None:
    return None if value.elements == () else value.element
