"""Instantiation of the program's classes."""

from __future__ import annotations

from xlalint.facts.domain.known_names import SETTINGS
from xlalint.facts.domain.role import Role
from xlalint.facts.domain.values import (
    ANY_HOST,
    NONE,
    Class,
    Struct,
    Value,
    function_value,
    instance,
    known_object,
    struct,
    tensor_of,
)
from xlalint.facts.kinds import SignKind
from xlalint.facts.libraries.frameworks.training import make_loader
from xlalint.facts.operations import members
from xlalint.facts.operations.given_objects import MAX_FIELDS, leave_in_arguments
from xlalint.facts.state.call import Call
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.tables import frameworks
from xlalint.program import ir

LOSSES = ("Loss", "Criterion", "Loss1d", "Loss2d", "Loss3d")


def construct(frame: Frame, callee: Class, call: Call) -> Value:
    cls = callee.ir
    engine = frame.engine
    if cls.name.endswith(SETTINGS):
        return ANY_HOST
    bases = list(engine.program.external_bases(cls))
    if is_data_class(frame, cls):
        return checked_record(frame, cls, data_record(frame, cls, call.arguments, call.keywords), call)
    framework = framework_role(frame, cls, bases, call)
    if framework is not None:
        return framework
    init = engine.program.method(cls, "__init__")
    if has_plain_bases(bases) and init is not None and not members.is_module_class(frame, cls):
        answer = engine.call(frame, function_value(init, instance(cls)), call.arguments, call.keywords, call.node.at)
        if answer.given[0] or answer.given[1]:
            leave_in_arguments(frame, init, 1, call, answer.given)
        if 0 < len(answer.writes) <= MAX_FIELDS and (changes_itself(cls) or holds_tensors(answer.writes)):
            return struct(cls, tuple(sorted(answer.writes.items())))
    elif init is not None and members.is_module_class(frame, cls):
        if not cls.name.endswith(LOSSES):
            frame.sign(SignKind.MAKES_MODEL, call.node.at)
        for base in bases:
            if base.endswith(("Sequential", "ModuleList")) and call.arguments:
                return instance(cls)
        if engine.keeps_fields:
            answer = engine.call(
                frame, function_value(init, instance(cls)), call.arguments, call.keywords, call.node.at
            )
            return struct(cls, tuple(sorted(answer.writes.items())))
    return engine.instance_of(cls)


def changes_itself(cls: ir.ClassIR) -> bool:
    """Objects whose state a step changes are worth following: meters, accumulators."""
    return any(method not in ("__init__", "reset") for methods in cls.assigned_in.values() for method in methods)


def holds_tensors(fields: dict[str, Value]) -> bool:
    return any(tensor_of(value) is not None for value in fields.values())


def has_plain_bases(bases: list[str]) -> bool:
    return all(base in ("builtins.object", "?.object", "abc.ABC", "?.ABC") for base in bases)


def is_data_class(frame: Frame, cls: ir.ClassIR) -> bool:
    """Classes that only hold fields: dataclasses, named tuples, model outputs."""
    for base in frame.engine.program.mro(cls):
        name = base if isinstance(base, str) else base.name
        if name.endswith(("ModelOutput", "BaseOutput", "NamedTuple")):
            return True
        if isinstance(base, ir.ClassIR) and any(is_dataclass(decorator) for decorator in base.decorators):
            return True
    return False


def is_dataclass(decorator: ir.Expr) -> bool:
    if type(decorator) is ir.Call:
        decorator = decorator.function
    return isinstance(decorator, (ir.Name, ir.Attribute)) and decorator.name in ("dataclass", "define", "frozen")


def data_record(frame: Frame, cls: ir.ClassIR, arguments: list[Value], keywords: dict[str, Value]) -> Value:
    names: dict[str, None] = {}
    for base in reversed(frame.engine.program.mro(cls)):
        if isinstance(base, ir.ClassIR):
            names.update(dict.fromkeys(base.attributes))
    fields: dict[str, Value] = dict(zip(names, arguments, strict=False))
    fields.update((k, v) for k, v in keywords.items() if k != "**")
    if "**" in keywords:
        return instance(cls)
    missing = {name: frame.engine.class_value(frame, cls, name) or NONE for name in names if name not in fields}
    ordered = [(name, fields.get(name, missing.get(name, NONE))) for name in names]
    return struct(cls, tuple(ordered))


def checked_record(frame: Frame, cls: ir.ClassIR, record: Value, call: Call) -> Value:
    """The record after its own ``__post_init__``, which checks and derives fields."""
    check = cls.methods.get("__post_init__")
    if check is None or not isinstance(record, Struct):
        return record
    answer = frame.engine.call(frame, function_value(check, record), [], {}, call.node.at)
    return struct(cls, tuple({**dict(record.fields), **answer.writes}.items())) if answer.writes else record


def framework_role(
    frame: Frame,
    cls: ir.ClassIR,
    bases: list[str],
    call: Call,
) -> Value | None:
    """A class that descends from a framework's loader or optimizer."""
    for base in bases:
        if frameworks().get("loader", base) is not None:
            return make_loader(frame, call.named(base))
        if base.startswith("torch.optim."):
            return known_object(Role.SCHEDULER if "lr_scheduler" in base else Role.OPTIMIZER)
    return None
