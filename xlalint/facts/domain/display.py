"""The text of abstract values, for ``reveal`` and ``explain``."""

from __future__ import annotations

from xlalint.facts.domain.values import (
    DATA,
    NONE,
    Bound,
    Class,
    Function,
    Host,
    Instance,
    KnownObject,
    Mapping,
    Module,
    Namespace,
    Partial,
    Sequence,
    Struct,
    Super,
    Tensor,
    Union,
    Value,
)

CERTAINTY = ("possibly", "likely", "declared", "")


def show(value: Value) -> str:
    """One short line, e.g. ``tensor xla float[8, ?]``."""
    if isinstance(value, Tensor):
        return show_tensor(value)
    if isinstance(value, Host):
        return show_host(value)
    if isinstance(value, Sequence):
        if value.elements is not None:
            return f"{value.kind}[{', '.join(show(e) for e in value.elements[:6])}]"
        return f"{value.kind} of {show(value.element)}"
    if isinstance(value, Mapping):
        items = ", ".join(f"{key!r}: {show(item)}" for key, item in value.items[:6])
        rest = "" if value.rest is None else f"{', ' if items else ''}…: {show(value.rest)}"
        return f"dict{{{items}{rest}}}"
    if isinstance(value, Union):
        return " | ".join(sorted(show(part) for part in value.alternatives))
    return show_object(value)


def show_tensor(value: Tensor) -> str:
    dims = "" if value.dims is None else f"[{', '.join('?' if size is None else str(size) for size in value.dims)}]"
    words = [
        CERTAINTY[value.certainty],
        "tensor",
        value.device or "anywhere",
        f"{value.dtype or ''}{dims}",
        "varies" if value.varies and value.varies != DATA else "",
        "data-sized" if value.varies == DATA else "",
    ]
    text = " ".join(word for word in words if word)
    return f"{text} | None" if value.optional else text


def show_host(value: Host) -> str:
    if value is NONE:
        return "None"
    text = f"{value.type} {value.constant!r}" if value.known else value.type if value.type != "?" else "host value"
    if value.read_from_device:
        text += " read"
    if value.varies:
        text += " varies"
    return text


def show_object(value: Value) -> str:
    if isinstance(value, Function):
        return f"function {value.ir.qualname}"
    if isinstance(value, Class):
        return f"class {value.ir.name}"
    if isinstance(value, (Instance, Struct)):
        return f"object {value.ir.name}"
    if isinstance(value, Module):
        return f"module {value.name}"
    if isinstance(value, KnownObject):
        return value.role.value if value.element is None else f"{value.role.value} of {show(value.element)}"
    if isinstance(value, Namespace):
        return f"name {value.name}"
    if isinstance(value, Partial):
        return f"partial {value.target.name}"
    if isinstance(value, Bound):
        return f"method {value.name} of {show(value.receiver)}"
    if isinstance(value, Super):
        return f"super of {value.ir.name}"
    return "unknown"
