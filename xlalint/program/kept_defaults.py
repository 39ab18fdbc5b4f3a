"""What a constructor keeps of its parameters' defaults, and the outcome of tests on that: ``self.mode == "mean"``."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping

import msgspec

from xlalint.program import ir
from xlalint.program.traversal import path_of, walk


class KeptDefault(msgspec.Struct, frozen=True):
    """A parameter's position among the arguments of a call, its name, and its default."""

    position: int
    name: str
    value: object


class ByDefault(msgspec.Struct, frozen=True, order=True):
    """What a test gives where calls of the class leave these parameters out, which attributes keep."""

    outcome: bool
    parameters: tuple[tuple[int, str, str], ...]
    """The position among the arguments of a call, the name, and the default as it is written."""
    attributes: tuple[str, ...]


@functools.lru_cache(maxsize=8192)
def kept_defaults(cls: ir.ClassIR) -> Mapping[str, KeptDefault]:
    """The attributes that nothing in the class sets but ``self.x = x`` in its constructor."""
    init = cls.methods.get("__init__")
    if init is None or any("setattr" in method.called for method in cls.methods.values()):
        return {}
    bound = Counter(path for node in walk(init.body) for path in given_in(node))
    defaults = {
        parameter.name: KeptDefault(position, parameter.name, parameter.default.value)
        for position, parameter in enumerate(init.parameters[1:])
        if type(parameter.default) is ir.Constant and not bound[parameter.name]
    }
    return {
        target.name: defaults[node.value.name]
        for node in walk(init.body)
        if type(node) is ir.Assign and type(node.value) is ir.Name and node.value.name in defaults
        for target in node.targets
        if type(target) is ir.Attribute
        and bound[f"self.{target.name}"] == 1
        and cls.assigned_in.get(target.name) == ("__init__",)
    }


def given_in(node: ir.Node) -> list[str]:
    """The names and attributes that a statement gives a value."""
    if type(node) is ir.Assign:
        targets = node.targets
    elif isinstance(node, (ir.Augmented, ir.Annotated, ir.For, ir.Generator)):
        targets = (node.target,)
    elif type(node) is ir.With:
        targets = tuple(target for _, target in node.items if target is not None)
    else:
        return [node.target] if type(node) is ir.Walrus else []
    parts = (part for target in targets for part in walk(target))
    return [path for part in parts if isinstance(part, (ir.Name, ir.Attribute)) and (path := path_of(part))]


def outcome_by_default(cls: ir.ClassIR, test: ir.Expr) -> ByDefault | None:
    """None where it takes more than defaults to tell."""
    asked = {part.name for part in walk(test) if type(part) is ir.Attribute and path_of(part) == f"self.{part.name}"}
    kept = kept_defaults(cls) if asked else {}
    if not asked or not asked <= kept.keys():
        return None
    outcome = truth(test, kept)
    if outcome is None:
        return None
    parameters = sorted((kept[name].position, kept[name].name, repr(kept[name].value)) for name in asked)
    return ByDefault(outcome, tuple(parameters), tuple(sorted(asked)))


def truth(test: ir.Expr, kept: Mapping[str, KeptDefault]) -> bool | None:
    if type(test) is ir.Unary and test.operator == "not":
        inner = truth(test.operand, kept)
        return None if inner is None else not inner
    if type(test) is ir.Boolean:
        ends = test.operator == "or"
        parts = [truth(part, kept) for part in test.values]
        return ends if ends in parts else None if None in parts else not ends
    if type(test) is ir.Compare:
        return compared(test, kept)
    known = literal(test, kept)
    return None if known is None else bool(known[0])


def compared(test: ir.Compare, kept: Mapping[str, KeptDefault]) -> bool | None:
    if len(test.operators) != 1:
        return None
    operator, right = test.operators[0], test.rights[0]
    left = literal(test.left, kept)
    listed = [literal(part, kept) for part in (right.elements if type(right) is ir.Display else (right,))]
    values = [one[0] for one in listed if one is not None]
    if left is None or len(values) < len(listed):
        return None
    if type(right) is ir.Display:
        return (left[0] in values) == (operator == "in") if operator in ("in", "not-in") else None
    if operator in ("eq", "is"):
        return left[0] == values[0]
    return left[0] != values[0] if operator in ("ne", "is-not") else None


def literal(node: ir.Expr, kept: Mapping[str, KeptDefault]) -> tuple[object] | None:
    """The value of a constant or of an attribute, alone in a tuple; None of anything else."""
    if type(node) is ir.Constant:
        return (node.value,)
    if type(node) is not ir.Attribute or path_of(node) != f"self.{node.name}" or node.name not in kept:
        return None
    return (kept[node.name].value,)
