"""Attributes by name: ``getattr``, ``setattr``, ``vars`` and ``__dict__``."""

from __future__ import annotations

from xlalint.facts.domain.known_names import TENSOR_METHODS
from xlalint.facts.domain.lattice import join, union
from xlalint.facts.domain.refinement import as_operand
from xlalint.facts.domain.role import Role
from xlalint.facts.domain.values import (
    ANY_HOST,
    MAX_UNION,
    NONE,
    UNKNOWN,
    Bound,
    Host,
    Instance,
    Mapping,
    Namespace,
    Struct,
    Tensor,
    Value,
    class_object,
    known_object,
    mapping,
    module_value,
    namespace,
    tensor_of,
)
from xlalint.facts.operations import members
from xlalint.facts.state.call import Call
from xlalint.facts.state.frame import Frame
from xlalint.program import ir

MOST_FIELDS = 16
OPS = frozenset({"torch", "torch.nn.functional"})
"""Namespaces of which each function is an op."""


def getattr_(frame: Frame, call: Call) -> Value:
    """``getattr(x, "name", default)``."""
    if len(call.arguments) < 2:
        return UNKNOWN
    value, key = call.arguments[:2]
    if type(key) is not Host or type(key.constant) is not str:
        return of_unknown_name(frame, value, call)
    found = members.attribute(frame, value, key.constant)
    if type(found) is not Bound or (type(as_operand(value)) is Tensor and key.constant in TENSOR_METHODS):
        return found
    numbered = numbered_attribute(frame, value, key.constant, call.node.arguments[0])
    if numbered is not None:
        return numbered
    if len(call.arguments) > 2 and type(call.arguments[2]) is not Host:
        return call.arguments[2]
    return ANY_HOST if value is ANY_HOST else UNKNOWN


def of_unknown_name(frame: Frame, value: Value, call: Call) -> Value:
    """One of the attributes, nobody knows which: of one object, of a module's classes, of torch's layers and ops."""
    node = call.node.arguments[1]
    if type(value) in (Instance, Struct):
        start = leading_text(node)
        if start:
            return numbered_attribute(frame, value, start, call.node.arguments[0]) or UNKNOWN
        held = [part for _, part in fields_of(frame, value, call.node.arguments[0])]
        return union([part for part in held if part is not NONE]) if held else UNKNOWN
    if type(value) is Namespace and value.path is not None:
        return classes_of(frame, value.path)
    if type(value) is Namespace and value.name == "torch.nn":
        return known_object(Role.MAKER, module_value("?"))
    if type(value) is Namespace and value.name in OPS:
        return namespace(f"{value.name}.?")
    return ANY_HOST if value is ANY_HOST else UNKNOWN


def classes_of(frame: Frame, path: str) -> Value:
    """A class of a file of the program, where it has few."""
    module = frame.engine.program.module(path)
    found = [] if module is None else [cls for name, cls in module.classes.items() if "." not in name]
    return union(map(class_object, found)) if 0 < len(found) <= MAX_UNION else UNKNOWN


def setattr_(frame: Frame, call: Call) -> Value:
    """``setattr(x, "name", value)``. Under a name that is not known, each tensor of the object may be the one."""
    if len(call.arguments) != 3 or len(call.node.arguments) != 3:
        return NONE
    holder, key, value = call.arguments
    node = call.node.arguments[0]
    if type(key) is Host and type(key.constant) is str:
        set_field(frame, node, key.constant, value, call.node.at)
    elif start := leading_text(call.node.arguments[1]):
        name = f"{start}*"
        held = frame.env.get(f"self.{name}")
        set_field(frame, node, name, value if held is None else join(held, value), call.node.at)
    else:
        set_one_of(frame, holder, node, value, call.node.at)
    return NONE


def set_field(frame: Frame, holder: ir.Expr, name: str, value: Value, at: int) -> None:
    frame.engine.assign(frame, ir.Attribute(holder, name, at), value, None)


def set_one_of(frame: Frame, holder: Value, node: ir.Expr, value: Value, at: int) -> None:
    if tensor_of(value) is None:
        return
    for name, held in fields_of(frame, holder, node):
        if tensor_of(held) is not None:
            set_field(frame, node, name, join(held, value), at)


def set_fields(frame: Frame, node: ir.Expr, values: Value, at: int) -> None:
    """``self.__dict__.update(values)``."""
    if type(values) is not Mapping:
        return
    for name, value in values.items:
        if isinstance(name, str):
            set_field(frame, node, name, value, at)
    if values.rest is not None:
        set_one_of(frame, frame.evaluate(node), node, values.rest, at)


def vars_(frame: Frame, call: Call) -> Value:
    if not call.arguments or not call.node.arguments:
        return mapping((), UNKNOWN)
    return fields_as_mapping(frame, call.arguments[0], call.node.arguments[0])


def fields_as_mapping(frame: Frame, value: Value, node: ir.Expr) -> Value:
    fields = fields_of(frame, value, node)
    return mapping(fields) if fields else mapping((), UNKNOWN)


def fields_of(frame: Frame, value: Value, node: ir.Expr) -> tuple[tuple[str, Value], ...]:
    """What an object of the program holds, by name; nothing where that is not known."""
    own = own_fields(frame) if type(node) is ir.Name and node.name == "self" else {}
    if type(value) is Struct:
        return tuple({**dict(value.fields), **own}.items())
    if type(value) is not Instance:
        return ()
    names = {
        name for base in frame.engine.program.mro(value.ir) if isinstance(base, ir.ClassIR) for name in assigned(base)
    }
    names |= own.keys()
    if len(names) > MOST_FIELDS:
        return ()
    return tuple((name, own.get(name) or members.attribute(frame, value, name)) for name in sorted(names))


def own_fields(frame: Frame) -> dict[str, Value]:
    """What the function at hand has set or read of ``self``."""
    return {path[5:]: value for path, value in frame.env.items() if path.startswith("self.")}


def assigned(cls: ir.ClassIR) -> frozenset[str]:
    return frozenset(cls.assigned_in) - {"*", "setattr", "self"}


def numbered_attribute(frame: Frame, value: Value, name: str, node: ir.Expr) -> Value | None:
    """``getattr(self, f"layer{i}")``: what was set under a name of the same beginning."""
    if type(value) not in (Instance, Struct):
        return None
    pattern = f"{name.rstrip('0123456789')}*"
    own = frame.env.get(f"self.{pattern}") if type(node) is ir.Name and node.name == "self" else None
    if own is not None:
        return own
    found = members.attribute(frame, value, pattern)
    return None if type(found) is Bound else found


def leading_text(node: ir.Expr) -> str:
    """What the name begins with: ``f"layer{i}"``, ``"layer%d" % i``, ``"layer" + str(i)``."""
    if type(node) is ir.FString:
        return node.start
    if type(node) is ir.Binary and type(node.left) is ir.Constant and isinstance(node.left.value, str):
        return node.left.value.partition("%")[0] if node.operator == "mod" else node.left.value
    if type(node) is ir.Call and type(node.function) is ir.Attribute and node.function.name == "format":
        text = node.function.value
        return text.value.partition("{")[0] if type(text) is ir.Constant and isinstance(text.value, str) else ""
    return ""
