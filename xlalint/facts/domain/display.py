"""How ``reveal`` and ``explain`` print an abstract value."""

from __future__ import annotations

from xlalint.facts.domain import domain as d

CERTAINTY = ("possibly", "likely", "")


def show(value: d.Value) -> str:
    """One short line, e.g. ``tensor xla float[8, ?]``."""
    if isinstance(value, d.Tensor):
        return show_tensor(value)
    if isinstance(value, d.Host):
        return show_host(value)
    if isinstance(value, d.Sequence):
        if value.elements is not None:
            return f"{value.kind}[{', '.join(show(e) for e in value.elements[:6])}]"
        return f"{value.kind} of {show(value.element)}"
    if isinstance(value, d.Mapping):
        items = ", ".join(f"{key!r}: {show(item)}" for key, item in value.items[:6])
        rest = "" if value.rest is None else f"{', ' if items else ''}…: {show(value.rest)}"
        return f"dict{{{items}{rest}}}"
    if isinstance(value, d.Union):
        return " | ".join(sorted(show(part) for part in value.alternatives))
    return show_object(value)


def show_tensor(value: d.Tensor) -> str:
    dims = "" if value.dims is None else f"[{', '.join('?' if size is None else str(size) for size in value.dims)}]"
    words = [
        CERTAINTY[value.certainty],
        "tensor",
        value.device or "anywhere",
        f"{value.dtype or ''}{dims}",
        "varies" if value.varies and value.varies != d.DATA else "",
        "data-sized" if value.varies == d.DATA else "",
    ]
    text = " ".join(word for word in words if word)
    return f"{text} | None" if value.optional else text


def show_host(value: d.Host) -> str:
    if value is d.NONE:
        return "None"
    text = f"{value.type} {value.constant!r}" if value.known else value.type if value.type != "?" else "host value"
    if value.paid:
        text += " read"
    if value.varies:
        text += " varies"
    return text


def show_object(value: d.Value) -> str:
    if isinstance(value, d.Function):
        return f"function {value.ir.qualname}"
    if isinstance(value, d.Class):
        return f"class {value.ir.name}"
    if isinstance(value, (d.Instance, d.Record)):
        return f"object {value.ir.name}"
    if isinstance(value, d.Module):
        return f"module {value.name}"
    if isinstance(value, d.Role):
        return value.role if value.element is None else f"{value.role} of {show(value.element)}"
    if isinstance(value, d.Namespace):
        return f"name {value.name}"
    if isinstance(value, d.Bound):
        return f"method {value.name} of {show(value.receiver)}"
    if isinstance(value, d.Super):
        return f"super of {value.ir.name}"
    return "unknown"
