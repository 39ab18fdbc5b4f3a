"""What is read from files: it lies where the call says."""

from __future__ import annotations

from xlalint.facts.domain.values import ANY_HOST, HOST, KNOWN, NONE, UNKNOWN, Host, Value, mapping, tensor
from xlalint.facts.operations import shapes
from xlalint.facts.state.call import Call


def loaded(row: str, call: Call) -> Value:
    """By a row's words: the parameter that names the device, its position, where it lies if nobody names one, and
    what is read: tensors by name, or anything."""
    parameter, position, default, kind = row.split(" ")
    at = int(position)
    place = call.keywords.get(parameter, call.arguments[at] if len(call.arguments) > at else NONE)
    device: str | None = HOST if default == HOST else None
    if place is not NONE:
        known = type(place) is Host and place.known
        device = shapes.device_of(place) if known else None
    if kind == "tensors":
        return mapping((), tensor(device, certainty=1 if device is None else KNOWN, grad=False))
    return ANY_HOST if device == HOST else UNKNOWN
