"""Which parameter each argument of a call belongs to, and what a static analyser could know of it."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch._jit_internal import boolean_dispatched
from torch.utils._pytree import tree_leaves

from xlalint.knowledge.conditions import UNKNOWN, Argument

EMPTY = inspect.Parameter.empty

BY_HAND: Mapping[str, str] = {
    "torch.Tensor.__getitem__": "input index",
}
"""Signatures that nothing announces."""

SWAPPED: Mapping[str, tuple[int, ...]] = {
    "torch.nn.functional.embedding": (1, 0),
    "torch.nn.functional.embedding_bag": (1, 0),
    "torch.where": (1, 0, 2),
}
"""OpInfo wraps these in a lambda with another order; for each position of the call, the position in the sample."""


class Signature:
    """Parameters in order, with defaults (``EMPTY`` where there is none)."""

    def __init__(self, parameters: Sequence[tuple[str, object]], keyword_only: frozenset[str] = frozenset()) -> None:
        self.parameters = tuple(parameters)
        self.keyword_only = keyword_only

    def bind(self, args: Sequence[object], kwargs: Mapping[str, object]) -> dict[str, object] | None:
        """Arguments by name in parameter order, or None if the call does not fit."""
        positional = [name for name, _ in self.parameters if name not in self.keyword_only]
        if len(args) > len(positional):
            return None
        bound = dict(zip(positional, args, strict=False))
        for name, value in kwargs.items():
            if name in bound or name not in dict(self.parameters):
                return None
            bound[name] = value
        if any(default is EMPTY and name not in bound for name, default in self.parameters):
            return None
        return {name: bound[name] for name, _ in self.parameters if name in bound}

    def text(self) -> str:
        """As in the table; a default that is no constant is left out."""
        words: list[str] = []
        for name, default in self.parameters:
            if name in self.keyword_only and "*" not in words:
                words.append("*")
            plain = default is None or isinstance(default, (bool, int, float, str))
            shown = f"={default}" if plain and default is not EMPTY and " " not in str(default) else ""
            words.append(name + (shown if default != "" else ""))
        return " ".join(words)


def signatures(name: str, target: object) -> list[Signature]:
    """The signatures of a dotted name: Python's if it has one, else the native overloads."""
    if name in BY_HAND:
        words = [word.partition("=") for word in BY_HAND[name].split()]
        return [Signature([(word, None if found else EMPTY) for word, found, _ in words])]
    if callable(target) and target in boolean_dispatched:
        target = boolean_dispatched[target]["if_false"]
    found = _python(target) or _native(name)
    return [signature for signature in found if signature.parameters]


def _python(target: object) -> list[Signature]:
    try:
        parameters = list(inspect.signature(target).parameters.values())  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return []
    if any(one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD) for one in parameters):
        return []
    only = frozenset(one.name for one in parameters if one.kind is one.KEYWORD_ONLY)
    return [Signature([(one.name, one.default) for one in parameters], only)]


def _native(name: str) -> list[Signature]:
    parts = name.split(".")
    last = parts[-1]
    prefix = f"{parts[1]}_" if parts[1] in ("linalg", "fft", "special") else ""
    found: list[Signature] = []
    for schema in torch._C._jit_get_schemas_for_operator(f"aten::{prefix}{last}"):
        if any(argument.is_out for argument in schema.arguments):
            continue
        pairs = [
            (_public(one.name), one.default_value if one.has_default_value() else EMPTY) for one in schema.arguments
        ]
        only = frozenset(_public(one.name) for one in schema.arguments if one.kwarg_only)
        found.append(Signature(pairs, only))
    return found


def _public(name: str) -> str:
    return "input" if name == "self" else name


def bind(
    name: str, choices: Sequence[Signature], args: Sequence[object], kwargs: Mapping[str, object]
) -> tuple[dict[str, object], Signature | None]:
    """Arguments by name under the first signature that fits; by position (``arg1``) if none does."""
    order = SWAPPED.get(name)
    if order is not None:
        args = [args[place] for place in order if place < len(args)] + list(args[len(order) :])
    for signature in choices:
        bound = signature.bind(args, kwargs)
        if bound is not None:
            return bound, signature
    return {**{f"arg{place}": value for place, value in enumerate(args)}, **kwargs}, None


def described(value: object) -> dict[str, Any]:
    """An argument as JSON."""
    if isinstance(value, torch.Tensor):
        return {"tensor": True, "dtypes": [kind(value.dtype)], "shape": list(value.shape)}
    if isinstance(value, (list, tuple)):
        tensors = [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)]
        if tensors:
            return {"tensor": False, "dtypes": sorted({kind(member.dtype) for member in tensors})}
        plain = _plain(value)
        return {"tensor": False, "dtypes": [], **({"value": plain} if plain is not None else {})}
    if value is None or isinstance(value, (bool, int, float, str)):
        return {"tensor": False, "value": value}
    return {"tensor": False, "dtypes": [], "other": str(value)[:40]}


def _plain(value: object) -> object:
    if isinstance(value, (list, tuple)):
        members = [_plain(member) for member in value]
        return members if len(members) == len(value) and ("?",) not in members else None
    return value if value is None or isinstance(value, (bool, int, float, str)) else ("?",)


def known(description: Mapping[str, Any], grad: bool) -> Argument:
    """The argument that a perfect analyser would see."""
    shape = description.get("shape")
    value = description.get("value", description.get("other", UNKNOWN))
    return Argument(
        value=_tuples(value),
        tensor=description["tensor"],
        dtypes=frozenset(description["dtypes"]) if "dtypes" in description else None,
        rank=None if shape is None else len(shape),
        shape=None if shape is None else tuple(shape),
        grad=grad if description["tensor"] else False,
    )


def _tuples(value: object) -> object:
    return tuple(_tuples(member) for member in value) if isinstance(value, list) else value


def kind(dtype: torch.dtype) -> str:
    if dtype is torch.bool:
        return "bool"
    if dtype.is_complex:
        return "complex"
    return "float" if dtype.is_floating_point else "int"
