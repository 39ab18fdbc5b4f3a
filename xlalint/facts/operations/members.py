"""Objects: attributes, elements, methods of the program's classes, construction, closures."""

from __future__ import annotations

from collections.abc import Sequence

from xlalint.facts.domain import domain as d
from xlalint.facts.domain.declared import promised_attribute
from xlalint.facts.domain.known_names import (
    HOST_ATTRIBUTES,
    MODULE_ATTRIBUTES,
    MODULE_HOST_ATTRIBUTES,
    PROPERTY_DECORATORS,
    SAME_TENSOR_ATTRIBUTES,
)
from xlalint.facts.guards.device_branches import STAND_IN
from xlalint.facts.guards.torch_version import VERSION, version_attribute, version_named
from xlalint.facts.state.environment import Environment
from xlalint.facts.state.frame import Frame, span_of
from xlalint.knowledge.tables import guards
from xlalint.program import ir
from xlalint.program.traversal import decorator_names


def attribute(frame: Frame, value: d.Value, name: str, node: ir.Expr) -> d.Value:
    kind = type(value)
    if kind is d.Tensor:
        return tensor_attribute(value, name)  # type: ignore[arg-type]
    if kind is d.Namespace:
        return namespace_attribute(frame, value, name)  # type: ignore[arg-type]
    if kind is d.Instance:
        return instance_attribute(frame, value, name)
    if kind is d.Record:
        found = value.get(name)  # type: ignore[attr-defined]
        return found if found is not None else instance_attribute(frame, value, name)
    if kind is d.Host:
        return host_attribute(value, name)  # type: ignore[arg-type]
    if kind is d.Module:
        return module_attribute(value, name)  # type: ignore[arg-type]
    if kind is d.Union:
        parts = [part for part in value.alternatives if part is not d.NONE]  # type: ignore[attr-defined]
        return d.joins([attribute(frame, part, name, node) for part in parts])
    if kind is d.Class:
        return class_attribute(frame, value, name)  # type: ignore[arg-type]
    if kind is d.Role:
        return frame.engine.role_attribute(value, name)  # type: ignore[arg-type]
    if kind is d.Super:
        return d.bound(value, name)
    if kind is d.Sequence and name in PAIR and value.elements is not None and len(value.elements) == len(PAIR):  # type: ignore[attr-defined]
        return value.elements[PAIR[name]]  # type: ignore[attr-defined,no-any-return]
    if value is d.UNKNOWN and name in UNKNOWN_ATTRIBUTES:
        return UNKNOWN_ATTRIBUTES[name]
    return d.bound(value, name)


PAIR = {"values": 0, "indices": 1}
"""What ``x.max(dim=1)``, ``x.sort()`` and ``x.topk(5)`` give has names, too."""

FACTORS = frozenset(
    {"S", "U", "V", "Vh", "Q", "R", "L", "LU", "pivots", "eigenvalues", "eigenvectors", "logabsdet", "solution"}
)
"""Fields of what ``torch.linalg`` gives."""

UNKNOWN_ATTRIBUTES: dict[str, d.Value] = {
    "shape": d.SIZE,
    "ndim": d.INT,
    "dtype": d.DTYPE,
    "device": d.ANY_DEVICE,
    "training": d.BOOL,
    "config": d.ANY_HOST,
    "is_cuda": d.FALSE,
    "saved_tensors": d.sequence("tuple", None, d.tensor(grad=False, certainty=1)),
}


GUARDED = {name[1:]: value for name, value in guards().attributes.items() if name.startswith(".")}
"""Attributes of tensors and devices whose value on XLA is known."""


def tensor_attribute(value: d.Tensor, name: str) -> d.Value:
    if name in ("shape",):
        return shape_value(value)
    guard = GUARDED.get(name)
    if guard is not None:
        if name == "is_cpu" and value.device == d.HOST:
            return d.TRUE
        return d.BOOL if value.device is None else d.constant(guard)
    if name == "dtype":
        return d.host("dtype", value.dtype) if value.dtype not in (None, "other") else d.DTYPE
    if name == "device":
        # Where a tensor lies that was seen on the host need not be where it lies in every run.
        return d.XLA_DEVICE if value.device == d.XLA else d.LIKELY_HOST_DEVICE if value.device else d.ANY_DEVICE
    if name == "ndim" and value.rank is not None:
        return d.constant(value.rank)
    if name in HOST_ATTRIBUTES:
        return d.host(HOST_ATTRIBUTES[name])
    if name in SAME_TENSOR_ATTRIBUTES:
        dims = value.dims if name not in ("T", "mT", "H", "mH") else d.of_rank(value.rank)
        return value.but(optional=name == "grad", dims=dims, grad=name != "data" and value.grad)
    if name in ("real", "imag"):
        return value.but(dtype="float", optional=False)
    return value.but(dims=None, optional=False) if name in FACTORS else d.bound(value, name)


def shape_value(value: d.Tensor) -> d.Value:
    if value.dims is None:
        return d.SIZE if value.varies is None else d.host("size", varies=value.varies)
    sizes = [d.constant(size) if size is not None else d.host("int", varies=value.varies) for size in value.dims]
    return d.sequence("tuple", sizes)


def namespace_attribute(frame: Frame, value: d.Namespace, name: str) -> d.Value:
    if value.name == "torch" and name in DTYPES:
        return d.host("dtype", DTYPES[name])
    if value.name in ("math", "numpy", "torch") and name in ("pi", "inf", "nan", "e"):
        return d.INFINITE if name == "inf" else d.FLOAT
    if value.path is not None:
        return frame.engine.module_attribute(frame, value.path, value.name, name)
    if frame.stands_for_device and value.name == "torch" and name.endswith("Tensor"):
        return d.namespace(f"{STAND_IN}{name}")
    full = f"{value.name}.{name}"
    guard = guards().attributes.get(full)
    if guard is not None:
        return d.constant(guard)
    return version_named(frame, full) or d.namespace(full)


DTYPES = {
    "bool": "bool",
    "uint8": "uint8",
    **dict.fromkeys(("int", "long", "int64", "int32", "int16", "int8", "short"), "int"),
    **dict.fromkeys(("float", "float32", "bfloat16", "double", "float64"), "float"),
    **dict.fromkeys(("float16", "half"), "float16"),
    **dict.fromkeys(("complex64", "complex128", "cfloat", "cdouble"), "complex"),
}


def host_attribute(value: d.Host, name: str) -> d.Value:
    if value is d.ANY_HOST:
        return d.ANY_HOST
    if value.type == VERSION and value.known:
        return version_attribute(value, name) or d.bound(value, name)
    if value.type == "device" and name == "type":
        return d.constant({d.XLA: "xla", d.HOST: "cpu"}[value.constant]) if value.known else d.STR
    if value.type == "numpy" and name in ("shape", "ndim", "size", "dtype"):
        return d.SIZE if name == "shape" else d.INT if name != "dtype" else d.OBJECT
    if name == "value" and value.type in ("str", "int"):
        # A member of an Enum is known by what it stands for.
        return value
    return d.bound(value, name)


def module_attribute(value: d.Module, name: str) -> d.Value:
    if name in ("weight", "bias"):
        return d.tensor(dtype="float", dims=d.of_rank(1) if name == "bias" else None)
    if name in ("running_mean", "running_var"):
        return d.tensor(dtype="float", dims=d.of_rank(1), grad=False)
    if name in ("training", "requires_grad"):
        return d.BOOL
    if name in MODULE_HOST_ATTRIBUTES:
        return d.ANY_HOST
    if type(value.elements) is d.Mapping:
        found = value.elements.get(name)
        if found is not None:
            return found
    if value.name == "?" and name not in MODULE_METHODS:
        return UNKNOWN_ATTRIBUTES.get(name) or d.module("?")
    return d.bound(value, name)


MODULE_METHODS = frozenset(
    {
        "train", "eval", "to", "cuda", "cpu", "parameters", "named_parameters", "buffers", "named_buffers", "modules",
        "named_modules", "children", "named_children", "state_dict", "load_state_dict", "zero_grad", "forward", "half",
        "float", "double", "bfloat16", "apply", "requires_grad_", "append", "generate", "register_forward_hook", "type",
        "register_buffer", "register_parameter", "add_module", "get_submodule", "no_sync", "backward", "step",
        "save_pretrained", "gradient_checkpointing_enable", "compile", "share_memory", "extend", "items", "values",
        "keys", "encode", "decode", "sample", "save_checkpoint", "save", "configure_optimizers",
        "register_forward_pre_hook", "register_full_backward_hook", "register_full_backward_pre_hook",
        "register_backward_hook",
    }
)  # fmt: skip


# The program's own classes


def is_module_class(frame: Frame, cls: ir.ClassIR) -> bool:
    return frame.engine.is_module_class(cls)


def instance_attribute(frame: Frame, value: d.Value, name: str) -> d.Value:
    definition: ir.ClassIR = value.ir  # type: ignore[attr-defined]
    engine = frame.engine
    if name in MODULE_ATTRIBUTES and is_module_class(frame, definition):
        return MODULE_ATTRIBUTES[name]
    method = engine.program.method(definition, name)
    if method is not None:
        return method_of(frame, value, method)
    found = engine.attribute_value(frame, definition, name)
    if found is None or found is d.UNKNOWN:
        found = promised_attribute(engine.class_names(definition), name) or found
    if found is not None:
        return found
    if name in MODULE_ATTRIBUTES:
        return MODULE_ATTRIBUTES[name]
    if name.endswith("_config") or name in ("hparams", "opt", "opts", "cfg"):
        return d.ANY_HOST
    return d.bound(value, name)


def method_of(frame: Frame, value: d.Value, method: ir.FunctionIR) -> d.Value:
    decorators = decorator_names(method)
    if decorators & PROPERTY_DECORATORS:
        return frame.engine.invoke(frame, d.function(method, value), [], {}, 0)
    if "staticmethod" in decorators:
        return d.function(method)
    if "classmethod" in decorators:
        return d.function(method, d.cls(value.ir) if type(value) is not d.Class else value)  # type: ignore[attr-defined]
    return d.function(method, value)


def class_attribute(frame: Frame, value: d.Class, name: str) -> d.Value:
    method = frame.engine.program.method(value.ir, name)
    if method is not None:
        decorators = decorator_names(method)
        if "classmethod" in decorators:
            return d.function(method, value)
        return d.function(method)
    found = frame.engine.class_value(frame, value.ir, name)
    return found if found is not None else d.bound(value, name)


def call_special_method(
    frame: Frame,
    value: d.Value,
    name: str,
    arguments: Sequence[d.Value],
    keywords: dict[str, d.Value],
    node: ir.Expr,
) -> d.Value:
    """Call a special method of a program's object; unknown where it has none."""
    method = frame.engine.program.method(value.ir, name)  # type: ignore[attr-defined]
    if method is None:
        return d.UNKNOWN
    return frame.engine.invoke(frame, d.function(method, value), list(arguments), keywords, span_of(node))


def close_over(frame: Frame, definition: ir.FunctionIR) -> d.Value:
    """A nested function with what its closure holds at this moment."""
    value = d.function(definition, None, captured_by(definition, frame.env))
    frame.closures[value] = None
    return value


def captured_by(definition: ir.FunctionIR, environment: Environment) -> tuple[tuple[str, d.Value], ...]:
    captured = tuple(
        (name, environment[name]) for name in definition.free if name in environment and name != definition.name
    )
    if "self" in definition.free:
        captured += tuple((k, v) for k, v in environment.items() if k.startswith("self."))
    return captured


def as_of_now(frame: Frame, callee: d.Function) -> d.Function:
    """A closure called in the function that defines it sees the names as they are at the call."""
    if all(closure.ir is not callee.ir for closure in frame.closures):
        return callee
    captured = captured_by(callee.ir, frame.env)
    return d.function(callee.ir, callee.receiver, captured, callee.bound, callee.bound_keywords)


def element_of(frame: Frame, value: d.Value) -> d.Value:
    """What iterating over the value gives."""
    kind = type(value)
    if isinstance(value, d.Tensor):
        return value.but(dims=value.dims[1:] if value.dims else None, optional=False)
    if isinstance(value, d.Sequence):
        return value.element
    if kind is d.Module:
        elements = value.elements  # type: ignore[attr-defined]
        if type(elements) is d.Sequence:
            return elements.element
        return d.STR if type(elements) is d.Mapping else elements or d.UNKNOWN
    if kind is d.Mapping:
        return d.STR
    if kind is d.Host:
        return element_of_host(value)  # type: ignore[arg-type]
    if kind is d.Role:
        return value.element or d.UNKNOWN  # type: ignore[attr-defined]
    if kind is d.Union:
        parts = [part for part in value.alternatives if part is not d.NONE]  # type: ignore[attr-defined]
        return d.joins([element_of(frame, part) for part in parts])
    if kind in (d.Instance, d.Record):
        return element_of_object(frame, value)
    return d.UNKNOWN


def element_of_host(value: d.Host) -> d.Value:
    if value.type in ("size", "range"):
        return d.INT if value.varies is None or value.type == "size" else d.host("int", varies=value.varies)
    if value.type == "numpy":
        return d.NUMPY
    return d.ANY_HOST if value is d.ANY_HOST else d.STR if value.type == "str" else d.UNKNOWN


def element_of_object(frame: Frame, value: d.Value) -> d.Value:
    method = frame.engine.program.method(value.ir, "__iter__")  # type: ignore[attr-defined]
    if method is None:
        return d.UNKNOWN
    result = frame.engine.invoke(frame, d.function(method, value), [], {}, 0)
    return d.UNKNOWN if result is value else element_of(frame, result)
