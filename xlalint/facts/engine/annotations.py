"""Type annotations → abstract values. An annotation that says nothing gives None."""

from __future__ import annotations

from xlalint.facts.domain import domain as d
from xlalint.facts.domain.declared import promised_class
from xlalint.facts.domain.known_names import SETTINGS
from xlalint.facts.state.frame import Evaluator
from xlalint.program import ir

NAMED: dict[str, d.Value | None] = {
    "Tensor": d.tensor(),
    "FloatTensor": d.tensor(),
    "HalfTensor": d.tensor(dtype="float"),
    "LongTensor": d.tensor(dtype="int"),
    "IntTensor": d.tensor(dtype="int"),
    "BoolTensor": d.tensor(dtype="bool"),
    "Parameter": d.tensor(dtype="float"),
    "int": d.INT,
    "float": d.FLOAT,
    "bool": d.BOOL,
    "str": d.STR,
    "None": d.NONE,
    "ndarray": d.NUMPY,
    "device": d.ANY_DEVICE,
    "dtype": d.DTYPE,
    "Any": None,
    "Callable": None,
    "object": None,
    "DataLoader": d.role("loader", d.tensor(d.HOST, certainty=1)),
    "Optimizer": d.role("optimizer"),
    "LRScheduler": d.role("scheduler"),
    "_LRScheduler": d.role("scheduler"),
    "Module": d.module("?"),
    "SummaryWriter": d.role("writer"),
    "ArgumentParser": d.ANY_HOST,
    "Namespace": d.ANY_HOST,
    "Path": d.ANY_HOST,
    "Logger": d.role("logger"),
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


def annotated(engine: Evaluator, node: ir.Expr | None, path: str) -> d.Value | None:
    """The value that an annotation in the file ``path`` promises."""
    if node is None:
        return None
    if isinstance(node, ir.Constant):
        return d.NONE if node.value is None else annotated_string(engine, node, path)
    if isinstance(node, (ir.Name, ir.Attribute)):
        return named_type(engine, node, path)
    if isinstance(node, ir.Binary) and node.operator == "or":
        return either([annotated(engine, node.left, path), annotated(engine, node.right, path)])
    if isinstance(node, ir.Subscript):
        return subscripted(engine, node, path)
    return None


def annotated_string(engine: Evaluator, node: ir.Constant, path: str) -> d.Value | None:
    if not isinstance(node.value, str):
        return None
    name = node.value.strip().rpartition(".")[2]
    return NAMED.get(name)


def named_type(engine: Evaluator, node: ir.Name | ir.Attribute, path: str) -> d.Value | None:
    if node.name in NAMED:
        return NAMED[node.name]
    if node.name in SEQUENCES or node.name in MAPPINGS:
        return d.mapping((), d.UNKNOWN) if node.name in MAPPINGS else None
    if node.name.endswith(SETTINGS):
        return d.ANY_HOST
    symbol = engine.program.expression_symbol(node, path)
    return engine.instance_of(symbol) if isinstance(symbol, ir.ClassIR) else promised_class(node.name)


def subscripted(engine: Evaluator, node: ir.Subscript, path: str) -> d.Value | None:
    base = node.value
    name = base.name if isinstance(base, (ir.Name, ir.Attribute)) else ""
    inner: list[ir.Expr] = list(node.index.elements) if isinstance(node.index, ir.Display) else [node.index]
    if not inner:  # `tuple[()]`
        return d.sequence(SEQUENCES[name], ()) if name in SEQUENCES else None
    if name == "Optional":
        value = annotated(engine, inner[0], path)
        return None if value is None else d.union((value, d.NONE))
    if name == "Union":
        return either([annotated(engine, part, path) for part in inner])
    if name in SEQUENCES:
        return sequence_type(engine, SEQUENCES[name], inner, path)
    if name in MAPPINGS and len(inner) == 2:
        return d.mapping((), annotated(engine, inner[1], path) or d.UNKNOWN)
    if name == "Literal":
        return d.STR
    if name in ("Annotated", "Final", "ClassVar", "Required", "NotRequired"):
        return annotated(engine, inner[0], path)
    return None


def sequence_type(engine: Evaluator, kind: str, inner: list[ir.Expr], path: str) -> d.Value:
    last = inner[-1]
    if kind == "tuple" and len(inner) > 1 and not (isinstance(last, ir.Constant) and last.value is ...):
        return d.sequence(kind, [annotated(engine, part, path) or d.UNKNOWN for part in inner])
    return d.sequence(kind, None, annotated(engine, inner[0], path))


def either(values: list[d.Value | None]) -> d.Value | None:
    """A union; one unknown member makes it say nothing, but for a tensor beside it."""
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return next((value.but(certainty=1) for value in known if type(value) is d.Tensor), None)
    return d.union(known)
