"""Members of objects: attributes, elements, special methods; and closures."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from xlalint.facts.domain.declared import promised_attribute
from xlalint.facts.domain.known_names import (
    HOST_ATTRIBUTES,
    MODULE_ATTRIBUTES,
    MODULE_HOST_ATTRIBUTES,
    PROPERTY_DECORATORS,
    SAME_TENSOR_ATTRIBUTES,
    is_model_name,
)
from xlalint.facts.domain.lattice import join_all, sequence
from xlalint.facts.domain.values import (
    ANY_DEVICE,
    ANY_HOST,
    BOOL,
    DATA,
    DTYPE,
    FALSE,
    FLOAT,
    HOST,
    INFINITE,
    INT,
    LIKELY_HOST_DEVICE,
    NONE,
    OBJECT,
    SIZE,
    STR,
    TRUE,
    UNKNOWN,
    XLA,
    XLA_DEVICE,
    Class,
    Function,
    Host,
    Instance,
    KnownObject,
    Mapping,
    Module,
    Namespace,
    Sequence,
    Struct,
    Tensor,
    Union,
    Unknown,
    Value,
    bound_method,
    class_object,
    constant,
    function_value,
    host,
    module_value,
    namespace,
    of_rank,
    tensor,
)
from xlalint.facts.domain.variation import is_read_size
from xlalint.facts.guards.device_branches import STAND_IN
from xlalint.facts.guards.torch_version import VERSION, version_attribute, version_named
from xlalint.facts.state.call import Arguments
from xlalint.facts.state.environment import Names
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.tables import guards
from xlalint.program import ir
from xlalint.program.traversal import decorator_names


def attribute(frame: Frame, value: Value, name: str) -> Value:
    handler = ATTRIBUTES.get(type(value))
    return bound_method(value, name) if handler is None else handler(frame, value, name)


def attribute_of_struct(frame: Frame, value: Struct, name: str) -> Value:
    found = value.get(name)
    return found if found is not None else instance_attribute(frame, value, name)


def attribute_of_union(frame: Frame, value: Union, name: str) -> Value:
    """Of the alternatives those that have it: the others would raise."""
    parts = [part for part in value.alternatives if part is not NONE]
    having = [part for part in parts if may_have(part, name)]
    return join_all([attribute(frame, part, name) for part in having or parts])


PLAIN_TYPES = {kind.__name__: kind for kind in (bool, int, float, str, list, tuple, set, dict)}


def may_have(value: Value, name: str) -> bool:
    """Whether a value may have an attribute of that name: what Python's own types have is known."""
    kind = value.type if type(value) is Host else value.kind if type(value) is Sequence else None
    if type(value) is Mapping:
        kind = "dict"
    plain = PLAIN_TYPES.get(kind) if kind is not None else None
    return plain is None or hasattr(plain, name) or (type(value) is Sequence and name in PAIR)


def attribute_of_role(frame: Frame, value: KnownObject, name: str) -> Value:
    return frame.engine.role_attribute(value, name)


def attribute_of_sequence(frame: Frame, value: Sequence, name: str) -> Value:
    if name in PAIR and value.elements is not None and len(value.elements) == len(PAIR):
        return value.elements[PAIR[name]]
    return bound_method(value, name)


def attribute_of_unknown(frame: Frame, value: Unknown, name: str) -> Value:
    return UNKNOWN_ATTRIBUTES[name] if name in UNKNOWN_ATTRIBUTES else bound_method(value, name)


PAIR = {"values": 0, "indices": 1}
"""What ``x.max(dim=1)``, ``x.sort()`` and ``x.topk(5)`` give has names, too."""

FACTORS = frozenset(
    {"S", "U", "V", "Vh", "Q", "R", "L", "LU", "pivots", "eigenvalues", "eigenvectors", "logabsdet", "solution"}
)
"""Fields of what ``torch.linalg`` gives."""

UNKNOWN_ATTRIBUTES: dict[str, Value] = {
    "shape": SIZE,
    "ndim": INT,
    "dtype": DTYPE,
    "device": ANY_DEVICE,
    "training": BOOL,
    "config": ANY_HOST,
    "is_cuda": FALSE,
    "saved_tensors": sequence("tuple", None, tensor(grad=False, certainty=1)),
}


GUARDED = {name[1:]: value for name, value in guards().attributes.items() if name.startswith(".")}
"""Attributes of tensors and devices whose value on XLA is known."""


def attribute_of_tensor(frame: Frame, value: Tensor, name: str) -> Value:
    return tensor_attribute(value, name)


def tensor_attribute(value: Tensor, name: str) -> Value:
    if name in ("shape",):
        return shape_value(value)
    guard = GUARDED.get(name)
    if guard is not None:
        if name == "is_cpu" and value.device == HOST:
            return TRUE
        return BOOL if value.device is None else constant(guard)
    if name == "dtype":
        return host("dtype", value.dtype) if value.dtype not in (None, "other") else DTYPE
    if name == "device":
        # Where a tensor lies that was seen on the host need not be where it lies in every run.
        return XLA_DEVICE if value.device == XLA else LIKELY_HOST_DEVICE if value.device else ANY_DEVICE
    if name == "ndim" and value.rank is not None:
        return constant(value.rank)
    if name in HOST_ATTRIBUTES:
        return host(HOST_ATTRIBUTES[name])
    if name in SAME_TENSOR_ATTRIBUTES:
        dims = value.dims if name not in ("T", "mT", "H", "mH") else of_rank(value.rank)
        return value.but(optional=name == "grad", dims=dims, grad=name not in ("data", "grad") and value.grad)
    if name in ("real", "imag"):
        return value.but(dtype="float", optional=False)
    return value.but(dims=None, optional=False) if name in FACTORS else bound_method(value, name)


def shape_value(value: Tensor) -> Value:
    if value.dims is None:
        return SIZE if value.varies is None else host("size", varies=value.varies)
    first = value.varies == DATA and value.along is None
    varies = [value.varies_at(i) if not first or not i else None for i in range(len(value.dims))]
    pairs = zip(value.dims, varies, strict=True)
    return sequence("tuple", [constant(size) if size is not None else host("int", varies=key) for size, key in pairs])


def namespace_attribute(frame: Frame, value: Namespace, name: str) -> Value:
    if value.name == "torch" and name in DTYPES:
        return host("dtype", DTYPES[name])
    if value.name in ("math", "numpy", "torch") and name in ("pi", "inf", "nan", "e"):
        return INFINITE if name == "inf" else FLOAT
    if value.path is not None:
        return frame.engine.module_attribute(frame, value.path, value.name, name)
    if frame.stands_for_device and value.name == "torch" and name.endswith("Tensor"):
        return namespace(f"{STAND_IN}{name}")
    full = f"{value.name}.{name}"
    guard = guards().attributes.get(full)
    if guard is not None:
        return constant(guard)
    return version_named(frame, full) or namespace(full)


DTYPES = {
    "bool": "bool",
    "uint8": "uint8",
    **dict.fromkeys(("int", "long", "int64", "int32", "int16", "int8", "short"), "int"),
    **dict.fromkeys(("float", "float32", "bfloat16", "double", "float64"), "float"),
    **dict.fromkeys(("float16", "half"), "float16"),
    **dict.fromkeys(("complex64", "complex128", "cfloat", "cdouble"), "complex"),
}


def host_attribute(frame: Frame, value: Host, name: str) -> Value:
    if value is ANY_HOST:
        return ANY_HOST
    if value.type == VERSION and value.known:
        return version_attribute(value, name) or bound_method(value, name)
    if value.type == "device" and name == "type":
        return constant({XLA: "xla", HOST: "cpu"}[value.constant]) if value.known else STR
    if value.type == "numpy" and name in ("shape", "ndim", "size", "dtype"):
        return SIZE if name == "shape" else INT if name != "dtype" else OBJECT
    if name == "value" and value.type in ("str", "int"):
        # A member of an Enum is known by what it stands for.
        return value
    return bound_method(value, name)


OF_LAYERS: dict[str, Value] = {
    "weight": tensor(dtype="float"),
    "bias": tensor(dtype="float", dims=of_rank(1)),
    "running_mean": tensor(dtype="float", dims=of_rank(1), grad=False),
    "running_var": tensor(dtype="float", dims=of_rank(1), grad=False),
}
"""Parameters and buffers of torch's layers."""


def module_attribute(frame: Frame, value: Module, name: str) -> Value:
    if name in OF_LAYERS:
        return OF_LAYERS[name]
    if name in ("training", "requires_grad"):
        return BOOL
    if name in MODULE_HOST_ATTRIBUTES:
        return ANY_HOST
    if type(value.elements) is Mapping:
        found = value.elements.get(name)
        if found is not None:
            return found
    if value.name == "?" and name not in MODULE_METHODS:
        return UNKNOWN_ATTRIBUTES.get(name) or module_value("?")
    return bound_method(value, name)


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


def instance_attribute(frame: Frame, value: Instance | Struct, name: str) -> Value:
    definition = value.ir
    engine = frame.engine
    if name in MODULE_ATTRIBUTES and is_module_class(frame, definition):
        return MODULE_ATTRIBUTES[name]
    method = engine.program.method(definition, name)
    if method is not None:
        return method_of(frame, value, method)
    found = engine.attribute_value(frame, definition, name)
    if found is None or found is UNKNOWN:
        found = promised_attribute(engine.class_names(definition), name) or found
    if found is UNKNOWN and is_model_name(name) and calls_own(definition, name):
        return UNKNOWN if engine.computes_elsewhere(definition.module) else module_value("?")
    if found is not None:
        return found
    if name in MODULE_ATTRIBUTES:
        return MODULE_ATTRIBUTES[name]
    if name in OF_LAYERS and descends_from_layer(frame, definition):
        return OF_LAYERS[name]
    if not name.startswith("__") and has_method(frame, value, "__getattr__"):
        delegated = call_special_method(frame, value, "__getattr__", [constant(name)], 0)
        if delegated is not UNKNOWN:
            return delegated
    if name.endswith("_config") or name in ("hparams", "opt", "opts", "cfg"):
        return ANY_HOST
    return bound_method(value, name)


@functools.lru_cache(maxsize=8192)
def calls_own(cls: ir.ClassIR, name: str) -> bool:
    """Whether a method of the class calls what an object of it holds under a name."""
    path = f"self.{name}"
    return any("()" in method.uses.get(path, ()) for method in cls.methods.values())


def descends_from_layer(frame: Frame, cls: ir.ClassIR) -> bool:
    bases = frame.engine.program.external_bases(cls)
    return any(base.startswith("torch.nn.") and base != "torch.nn.Module" for base in bases)


def method_of(frame: Frame, value: Instance | Struct, method: ir.FunctionIR) -> Value:
    decorators = decorator_names(method)
    if decorators & PROPERTY_DECORATORS:
        return frame.engine.invoke(frame, function_value(method, value), [], {}, 0)
    if "staticmethod" in decorators:
        return function_value(method)
    if "classmethod" in decorators:
        return function_value(method, class_object(value.ir))
    return function_value(method, value)


def class_attribute(frame: Frame, value: Class, name: str) -> Value:
    method = frame.engine.program.method(value.ir, name)
    if method is not None:
        decorators = decorator_names(method)
        if "classmethod" in decorators:
            return function_value(method, value)
        return function_value(method)
    found = frame.engine.class_value(frame, value.ir, name)
    return found if found is not None else bound_method(value, name)


def call_special_method(frame: Frame, value: Instance | Struct, name: str, arguments: Arguments, at: int) -> Value:
    """Call a special method of a program's object; unknown where it has none."""
    method = frame.engine.program.method(value.ir, name)
    if method is None:
        return UNKNOWN
    return frame.engine.invoke(frame, function_value(method, value), arguments, {}, at)


def has_method(frame: Frame, value: Instance | Struct, name: str) -> bool:
    return frame.engine.program.method(value.ir, name) is not None


def close_over(frame: Frame, definition: ir.FunctionIR) -> Value:
    """A nested function with what its closure holds at this moment."""
    value = function_value(definition, None, captured_by(definition, frame.env))
    frame.closures[value] = None
    return value


def captured_by(definition: ir.FunctionIR, environment: Names) -> tuple[tuple[str, Value], ...]:
    captured = tuple(
        (name, environment[name]) for name in definition.free if name in environment and name != definition.name
    )
    if "self" in definition.free:
        captured += tuple((k, v) for k, v in environment.items() if k.startswith("self."))
    return captured


def as_of_now(frame: Frame, callee: Function) -> Function:
    """A closure called in the function that defines it sees the names as they are at the call."""
    if all(closure.ir is not callee.ir for closure in frame.closures):
        return callee
    captured = captured_by(callee.ir, frame.env)
    return function_value(callee.ir, callee.receiver, captured, callee.bound, callee.bound_keywords)


def element_of(frame: Frame, value: Value) -> Value:
    """What iterating over the value gives."""
    handler = ELEMENTS.get(type(value))
    return UNKNOWN if handler is None else handler(frame, value)


def element_of_tensor(frame: Frame, value: Tensor) -> Value:
    varies, along = (None, None) if value.along == 0 else (value.varies, value.along)
    dims = value.dims[1:] if value.dims else None
    return value.but(dims=dims, optional=False, varies=varies, along=None if along is None else along - 1)


def element_of_sequence(frame: Frame, value: Sequence) -> Value:
    return value.element


def element_of_mapping(frame: Frame, value: Mapping) -> Value:
    return STR


def element_of_module(frame: Frame, value: Module) -> Value:
    elements = value.elements
    if type(elements) is Sequence:
        return elements.element
    return STR if type(elements) is Mapping else elements or UNKNOWN


def element_of_known_object(frame: Frame, value: KnownObject) -> Value:
    return value.element or UNKNOWN


def element_of_union(frame: Frame, value: Union) -> Value:
    return join_all([element_of(frame, part) for part in value.alternatives if part is not NONE])


def element_of_host(frame: Frame, value: Host) -> Value:
    if value.type in ("size", "range"):
        changes = value.varies is not None and (value.type == "range" or is_read_size(value.varies))
        return host("int", varies=value.varies) if changes else INT
    if value.type == "numpy":
        return value
    return ANY_HOST if value is ANY_HOST else STR if value.type == "str" else UNKNOWN


def element_of_object(frame: Frame, value: Instance | Struct) -> Value:
    method = frame.engine.program.method(value.ir, "__iter__")
    if method is None:
        return UNKNOWN
    result = frame.engine.invoke(frame, function_value(method, value), [], {}, 0)
    return UNKNOWN if result is value else element_of(frame, result)


ATTRIBUTES: dict[type[Value], Callable[[Frame, Any, str], Value]] = {
    Tensor: attribute_of_tensor,
    Namespace: namespace_attribute,
    Instance: instance_attribute,
    Struct: attribute_of_struct,
    Host: host_attribute,
    Module: module_attribute,
    Union: attribute_of_union,
    Class: class_attribute,
    KnownObject: attribute_of_role,
    Sequence: attribute_of_sequence,
    Unknown: attribute_of_unknown,
}
"""Who answers for the attributes of a value of each type; what is missing has methods only."""

ELEMENTS: dict[type[Value], Callable[[Frame, Any], Value]] = {
    Tensor: element_of_tensor,
    Sequence: element_of_sequence,
    Module: element_of_module,
    Mapping: element_of_mapping,
    Host: element_of_host,
    KnownObject: element_of_known_object,
    Union: element_of_union,
    Instance: element_of_object,
    Struct: element_of_object,
}
