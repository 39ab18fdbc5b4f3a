"""What is assigned to: names, parts, attributes, elements of containers and of tensors."""

from __future__ import annotations

from xlalint.facts.detectors.environment import check_assigned
from xlalint.facts.detectors.loss import as_used
from xlalint.facts.domain import domain as d
from xlalint.facts.events import Effect
from xlalint.facts.interpreter import subscripts
from xlalint.facts.operations import members
from xlalint.facts.state.frame import Frame
from xlalint.program import ir


def assign(frame: Frame, target: ir.Expr, value: d.Value, source: ir.Expr | None) -> None:
    kind = type(target)
    if kind is ir.Name:
        name = target.name  # type: ignore[union-attr]
        frame.bind(name, as_used(frame, name, value))
    elif kind is ir.Display:
        unpack_into(frame, target, value, source)  # type: ignore[arg-type]
    elif kind is ir.Attribute:
        assign_attribute(frame, target, value)  # type: ignore[arg-type]
    elif kind is ir.Subscript:
        assign_subscript(frame, target, value)  # type: ignore[arg-type]
    elif kind is ir.Starred:
        assign(frame, target.value, value, None)  # type: ignore[union-attr,arg-type]


def unpack_into(frame: Frame, target: ir.Display, value: d.Value, source: ir.Expr | None) -> None:
    names = target.elements
    count = len(names)
    starred = any(type(name) is ir.Starred for name in names)
    value = listed(value)
    if type(value) is d.Sequence and value.elements is not None and len(value.elements) == count and not starred:
        for name, element in zip(names, value.elements, strict=False):
            assign(frame, name, element, None)
        return
    if type(value) is d.Host and value.type == "size" and source is not None and not starred:
        learn_rank(frame, source, count)
    for i, name in enumerate(names):
        if type(name) is ir.Starred:
            rest = d.SIZE if value is d.SIZE else d.sequence("list", None, members.element_of(frame, value))
            assign(frame, name.value, rest, None)
        else:
            assign(frame, name, unpacked_element(frame, value, i, count), None)


def listed(value: d.Value) -> d.Value:
    """A ``ModuleList`` is unpacked as the list that it was made of."""
    return value.elements if type(value) is d.Module and type(value.elements) is d.Sequence else value


def unpacked_element(frame: Frame, value: d.Value, position: int, count: int) -> d.Value:
    parts = []
    for part in d.alternatives(value):
        if part is d.NONE:
            continue
        part = listed(part)
        if type(part) is d.Sequence and part.elements is not None and position < len(part.elements):
            parts.append(part.elements[position])
        else:
            parts.append(members.element_of(frame, part))
    return d.joins(parts)


def learn_rank(frame: Frame, source: ir.Expr, rank: int) -> None:
    """``b, s, h = x.shape`` tells the rank of x."""
    attribute = source.function if type(source) is ir.Call else source
    if type(attribute) is not ir.Attribute or type(attribute.value) is not ir.Name:
        return
    known = frame.env.get(attribute.value.name)
    if type(known) is d.Tensor and known.rank is None:
        frame.env[attribute.value.name] = known.but(dims=d.of_rank(rank))


def assign_attribute(frame: Frame, target: ir.Attribute, value: d.Value) -> None:
    holder = frame.evaluate(target.value)
    base = target.value
    if type(base) is ir.Name and base.name == "self":
        frame.bind(f"self.{target.name}", value)
        frame.writes[target.name] = d.join_maybe(frame.writes.get(target.name), value) or value
    elif type(holder) is d.Record and type(base) is ir.Name:
        fields = dict(holder.fields)
        fields[target.name] = value
        frame.env[base.name] = d.record(holder.ir, tuple(fields.items()))
    elif type(base) is ir.Name and type(holder) is d.Module and type(holder.elements) is d.Mapping:
        items = dict(holder.elements.items)
        items[target.name] = value
        frame.env[base.name] = d.module(holder.name, d.mapping(tuple(items.items()), holder.elements.rest))


def assign_subscript(frame: Frame, target: ir.Subscript, value: d.Value) -> None:
    holder = frame.evaluate(target.value)
    known = d.tensor_of(holder) if type(holder) is not d.Role else None
    if known is not None:
        store_in_tensor(frame, target, known, value)
    elif type(holder) is d.Mapping:
        key = frame.evaluate(target.index)
        store(frame, target.value, mapping_with(holder, key, value))
    elif type(holder) is d.Sequence:
        key = frame.evaluate(target.index)
        number = d.tensor_of(key)
        if number is not None and number.live and d.surely_tensor(key):
            frame.emit(Effect.TENSOR_AS_NUMBER, target.at, key, "list index", target.index)
        store(frame, target.value, d.sequence(holder.kind, None, d.join_maybe(appended(holder), value)))
    else:
        key = frame.evaluate(target.index)
        check_assigned(frame, holder, key, value, target)
        subscripts.masks_unknown(frame, holder, key, target.index, target, Effect.BOOLEAN_ASSIGN)
        element = d.tensor_of(value)
        if holder is d.NUMPY and element is not None and element.live and d.surely_tensor(value):
            frame.emit(Effect.VALUES_TO_LIST, target.at, value, "numpy element", target)


def store_in_tensor(frame: Frame, target: ir.Subscript, known: d.Tensor, value: d.Value) -> None:
    form = ""
    if type(value) is d.Host and value.type in ("int", "float", "bool"):
        form = "scalar-value"
        index = target.index
        if type(index) is not ir.Display and known.dims is not None:
            key = frame.evaluate(index)
            if type(key) is d.Tensor and key.dims == known.dims and None not in known.dims:
                form = "scalar-value-same-shape"
    subscripts.index_tensor(frame, known, target.index, target, store=True, form=form)
    frame.pending()
    # What is only likely to be a tensor, a loader's batch, takes what it is given where it lies: it is a dict.
    surely_host = known.device == d.HOST and known.certainty == 2
    if surely_host and type(value) is d.Tensor and value.device == d.XLA and value.certainty == 2:
        frame.emit(Effect.COPY_TO_HOST, target.at, value, "element of a host tensor", target)


def mapping_with(holder: d.Mapping, key: d.Value, value: d.Value) -> d.Value:
    if type(key) is d.Host and key.known:
        items = dict(holder.items)
        items[key.constant] = value
        return d.mapping(tuple(items.items()), holder.rest)
    return d.mapping(holder.items, d.join_maybe(holder.rest, value))


def store(frame: Frame, holder: ir.Expr, value: d.Value) -> None:
    """Keep a container's new value under the name that holds it."""
    if type(holder) is ir.Name:
        frame.env[holder.name] = value
    elif type(holder) is ir.Attribute and type(holder.value) is ir.Name and holder.value.name == "self":
        frame.env[f"self.{holder.name}"] = value
        frame.writes[holder.name] = d.join_maybe(frame.writes.get(holder.name), value) or value


def appended(value: d.Sequence) -> d.Value | None:
    return None if value.elements == () else value.element
