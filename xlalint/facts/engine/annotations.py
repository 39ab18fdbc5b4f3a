"""Type annotations as abstract values. An annotation that says nothing gives None."""

from __future__ import annotations

from xlalint.facts.domain.declared import promised_class
from xlalint.facts.domain.known_names import SETTINGS
from xlalint.facts.domain.lattice import sequence, union
from xlalint.facts.domain.role import Role
from xlalint.facts.domain.values import (
    ANY_DEVICE,
    ANY_HOST,
    BOOL,
    DECLARED,
    DTYPE,
    FLOAT,
    HOST,
    INT,
    NONE,
    NUMPY,
    STR,
    UNKNOWN,
    Tensor,
    Value,
    known_object,
    mapping,
    module_value,
    tensor,
)
from xlalint.facts.state.frame import Evaluator
from xlalint.knowledge.tables import frameworks
from xlalint.program import ir
from xlalint.program.traversal import last_name

NAMED: dict[str, Value | None] = {
    "Tensor": tensor(certainty=DECLARED),
    "FloatTensor": tensor(certainty=DECLARED),
    "HalfTensor": tensor(dtype="float", certainty=DECLARED),
    "LongTensor": tensor(dtype="int", certainty=DECLARED),
    "IntTensor": tensor(dtype="int", certainty=DECLARED),
    "BoolTensor": tensor(dtype="bool", certainty=DECLARED),
    "Parameter": tensor(dtype="float", certainty=DECLARED),
    "int": INT,
    "float": FLOAT,
    "bool": BOOL,
    "str": STR,
    "None": NONE,
    "ndarray": NUMPY,
    "device": ANY_DEVICE,
    "dtype": DTYPE,
    "Any": None,
    "Callable": None,
    "object": None,
    "DataLoader": known_object(Role.LOADER, tensor(HOST, certainty=1)),
    "Optimizer": known_object(Role.OPTIMIZER),
    "LRScheduler": known_object(Role.SCHEDULER),
    "_LRScheduler": known_object(Role.SCHEDULER),
    "Module": module_value("?"),
    "SummaryWriter": known_object(Role.WRITER),
    "ArgumentParser": ANY_HOST,
    "Namespace": ANY_HOST,
    "Path": ANY_HOST,
    "Logger": known_object(Role.LOGGER),
}
SEQUENCES = {
    "list": "list",
    "List": "list",
    "Sequence": "list",
    "Iterable": "list",
    "Iterator": "list",
    "Generator": "list",
    "tuple": "tuple",
    "Tuple": "tuple",
    "set": "set",
    "Set": "set",
    "frozenset": "set",
}
MAPPINGS = frozenset({"dict", "Dict", "Mapping", "MutableMapping", "OrderedDict", "DefaultDict"})


def annotated(engine: Evaluator, node: ir.Expr | None, path: str) -> Value | None:
    """The value that an annotation in the file ``path`` promises."""
    if node is None:
        return None
    if isinstance(node, ir.Constant):
        return NONE if node.value is None else annotated_string(engine, node, path)
    if isinstance(node, (ir.Name, ir.Attribute)):
        return named_type(engine, node, path)
    if isinstance(node, ir.Binary) and node.operator == "or":
        return either([annotated(engine, node.left, path), annotated(engine, node.right, path)])
    if isinstance(node, ir.Subscript):
        return subscripted(engine, node, path)
    return None


def annotated_string(engine: Evaluator, node: ir.Constant, path: str) -> Value | None:
    if not isinstance(node.value, str):
        return None
    name = node.value.strip().rpartition(".")[2]
    return NAMED.get(name)


def named_type(engine: Evaluator, node: ir.Name | ir.Attribute, path: str) -> Value | None:
    if is_of_other_arrays(engine, node, path):
        return NUMPY
    if node.name in NAMED:
        return NAMED[node.name]
    if node.name in SEQUENCES or node.name in MAPPINGS:
        return mapping((), UNKNOWN) if node.name in MAPPINGS else None
    if node.name.endswith(SETTINGS):
        return ANY_HOST
    symbol = engine.program.expression_symbol(node, path)
    if not isinstance(symbol, ir.ClassIR):
        return promised_class(node.name)
    return NAMED["Tensor"] if is_shape(symbol) or names_tensors(engine, symbol) else engine.instance_of(symbol)


def names_tensors(engine: Evaluator, cls: ir.ClassIR) -> bool:
    """``class Matrix(torch.Tensor)`` without methods of its own: a name for tensors."""
    bases = engine.program.mro(cls)
    return "torch.Tensor" in bases and not any(isinstance(base, ir.ClassIR) and base.methods for base in bases)


def is_shape(cls: ir.ClassIR) -> bool:
    """``class Batch(TensorType["batch", "width"])``: a name for tensors."""
    return any(type(base) is ir.Subscript and last_name(base.value) == SHAPED for base in cls.bases)


def is_of_other_arrays(engine: Evaluator, node: ir.Name | ir.Attribute, path: str) -> bool:
    """``tf.Tensor``, ``jax.Array``: no tensor of torch, and as good as one of numpy."""
    module = engine.program.module(path)
    first: ir.Expr = node
    while type(first) is ir.Attribute:
        first = first.value
    if module is None or type(first) is not ir.Name:
        return False
    return module.imports.get(first.name, "").partition(".")[0] in frameworks().names("arrays")


def subscripted(engine: Evaluator, node: ir.Subscript, path: str) -> Value | None:
    base = node.value
    name = base.name if isinstance(base, (ir.Name, ir.Attribute)) else ""
    inner: list[ir.Expr] = list(node.index.elements) if isinstance(node.index, ir.Display) else [node.index]
    if not inner:  # `tuple[()]`
        return sequence(SEQUENCES[name], ()) if name in SEQUENCES else None
    if name == "Optional":
        value = annotated(engine, inner[0], path)
        return None if value is None else union((value, NONE))
    if name == "Union":
        return either([annotated(engine, part, path) for part in inner])
    if name in SEQUENCES:
        return sequence_type(engine, SEQUENCES[name], inner, path)
    if name in MAPPINGS and len(inner) == 2:
        return mapping((), annotated(engine, inner[1], path) or UNKNOWN)
    if name == "Literal":
        return STR
    if name in ("Annotated", "Final", "ClassVar", "Required", "NotRequired"):
        return annotated(engine, inner[0], path)
    return shaped_type(engine, name, inner, path)


def shaped_type(engine: Evaluator, name: str, inner: list[ir.Expr], path: str) -> Value | None:
    """A tensor with words for its dimensions: ``TensorType["batch"]``, ``Float[Tensor, "batch width"]``."""
    if name == SHAPED:
        return NAMED["Tensor"]
    array = annotated(engine, inner[0], path) if name in DTYPES and len(inner) == 2 else None
    return array.but(dtype=DTYPES[name]) if type(array) is Tensor else array


SHAPED = "TensorType"
DTYPES = {"Float": "float", "Int": "int", "Bool": "bool", "Integer": "int", "Num": None, "Shaped": None}


def sequence_type(engine: Evaluator, kind: str, inner: list[ir.Expr], path: str) -> Value:
    last = inner[-1]
    if kind == "tuple" and len(inner) > 1 and not (isinstance(last, ir.Constant) and last.value is ...):
        return sequence(kind, [annotated(engine, part, path) or UNKNOWN for part in inner])
    return sequence(kind, None, annotated(engine, inner[0], path))


def either(values: list[Value | None]) -> Value | None:
    """A union; one unknown member makes it say nothing, but for a tensor beside it."""
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return next((value.but(certainty=1) for value in known if type(value) is Tensor), None)
    return union(known)
