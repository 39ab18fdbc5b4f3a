"""Narrowing: what the outcome of a test implies for the names in it."""

from __future__ import annotations

from xlalint.facts.domain.lattice import sequence, union
from xlalint.facts.domain.refinement import without_none
from xlalint.facts.domain.values import (
    BOOL,
    FLOAT,
    INT,
    NONE,
    NUMPY,
    STR,
    UNKNOWN,
    Bound,
    Host,
    Instance,
    Module,
    Sequence,
    Tensor,
    Union,
    Value,
    alternatives,
    mapping,
    module_value,
    of_rank,
    tensor,
    tensor_of,
)
from xlalint.facts.state.environment import Environment
from xlalint.facts.state.frame import Frame
from xlalint.program import ir
from xlalint.program.traversal import asks_for_any, asks_for_type, last_name, none_tested, path_of, type_names

TYPES: dict[str, Value] = {
    "int": INT,
    "float": FLOAT,
    "str": STR,
    "bool": BOOL,
    "list": sequence("list"),
    "tuple": sequence("tuple"),
    "dict": mapping((), UNKNOWN),
    "Mapping": mapping((), UNKNOWN),
    "ndarray": NUMPY,
}

TENSOR_TESTS = frozenset({"is_tensor", "is_tensor_like", "is_torch_tensor"})


def narrow(frame: Frame, node: ir.Expr, outcome: bool) -> None:
    if type(node) is ir.Unary and node.operator == "not":
        narrow(frame, node.operand, not outcome)
    elif type(node) is ir.Boolean:
        if (node.operator == "and") == outcome:
            for value in node.values:
                narrow(frame, value, outcome)
    elif type(node) is ir.Compare and len(node.operators) == 1:
        narrow_comparison(frame, node, outcome)
    elif type(node) is ir.Call and node.arguments:
        narrow_call(frame, node, outcome)
    elif outcome:
        path = path_of(node)
        known = frame.env.get(path) if path else None
        if path and known is not None and (type(known) is Union or (type(known) is Tensor and known.optional)):
            frame.env[path] = without_none(known)


def narrow_comparison(frame: Frame, node: ir.Compare, outcome: bool) -> None:
    operator, right = node.operators[0], node.rights[0]
    if operator in ("is", "is-not") and type(right) is ir.Constant and right.value is None:
        narrow_none(frame, node.left, (operator == "is") == outcome)
    elif operator in ("is", "eq") and outcome and asks_for_type(node.left):
        narrow_type(frame, node.left.arguments[0], right)  # type: ignore[union-attr]
    elif asks_for_any(node) == (not outcome):
        narrow_to_empty(frame, node.left.arguments)  # type: ignore[union-attr]
    elif operator in ("eq", "ne"):
        narrow_equality(frame, node.left, right, (operator == "eq") == outcome)


def narrow_to_empty(frame: Frame, counted: tuple[ir.Expr, ...]) -> None:
    path = path_of(counted[0]) if counted else None
    value = frame.env.get(path) if path is not None else None
    if path is not None and type(value) is Sequence:
        frame.env[path] = sequence(value.kind, ())


def narrow_type(frame: Frame, node: ir.Expr, wanted: ir.Expr) -> None:
    """``type(x) is list`` tells what ``isinstance`` does where it holds, and nothing where it doesn't."""
    path = path_of(node)
    value = frame.env.get(path) if path is not None else None
    if path is not None and value is not None:
        frame.env[path] = is_one_of(frame, path, value, type_names(wanted))


def narrow_none(frame: Frame, node: ir.Expr, is_none: bool) -> None:
    path = path_of(node)
    if path is None:
        return
    value = frame.env.get(path)
    if is_none:
        if value is not None or "." in path:
            frame.env[path] = NONE
    elif value is not None:
        frame.env[path] = without_none(value)
    elif "." in path:
        frame.env[path] = without_none(frame.evaluate(node))


def with_defaults(frame: Frame, test: ir.Expr, yes: Environment | None, no: Environment | None) -> None:
    """``if y is None: y = x``: a parameter of which nothing is known is what stands in for it where it is not given."""
    asked = none_tested(test)
    if asked is None or yes is None or no is None:
        return
    absent, given = (yes, no) if asked[1] else (no, yes)
    for parameter in frame.function.parameters:
        default = absent.get(parameter.name)
        if default is not None and given.get(parameter.name) is UNKNOWN:
            given[parameter.name] = like_default(frame, default)


def like_default(frame: Frame, default: Value) -> Value:
    """What may be given where ``default`` stands in: a tensor for a tensor, some module for a module."""
    if type(default) is Tensor:
        return default.but(dims=None, certainty=min(default.certainty, 1))
    of_program = type(default) is Instance and frame.engine.is_module_class(default.ir)
    return module_value("?") if of_program or type(default) is Module else UNKNOWN


def forget_told(frame: Frame, yes: Environment | None, no: Environment | None) -> None:
    """What the test told of an attribute holds in one arm only; what an arm assigned is kept."""
    if yes is None or no is None:
        return
    for name in yes.keys() ^ no.keys():
        if "." in name and name not in frame.origins:
            yes.pop(name, None)
            no.pop(name, None)
    lost = {path for path in yes.periodic ^ no.periodic if "." in path}
    if lost:
        yes.periodic -= lost
        no.periodic -= lost


def narrow_equality(frame: Frame, left: ir.Expr, right: ir.Expr, equal: bool) -> None:
    """``x.dtype == torch.bool``, ``x.dim() == 3``, ``x.ndim == 3``."""
    method = type(left) is ir.Call and type(left.function) is ir.Attribute
    attribute = left.function if type(left) is ir.Call and method else left
    if type(attribute) is not ir.Attribute or type(attribute.value) is not ir.Name:
        return
    name = attribute.value.name
    value = frame.env.get(name)
    if type(value) is not Tensor:
        return
    if attribute.name == "dtype" and not method:
        dtype = frame.evaluate(right)
        if type(dtype) is Host and dtype.type == "dtype" and dtype.known:
            if equal:
                frame.env[name] = value.but(dtype=dtype.constant)
            elif dtype.constant == "bool" and value.dtype is None:
                frame.env[name] = value.but(dtype="other")
    elif attribute.name in ("ndim", "dim") and equal and type(right) is ir.Constant:
        rank = right.value
        if type(rank) is int and value.rank != rank:
            frame.env[name] = value.but(dims=of_rank(rank))


def narrow_call(frame: Frame, node: ir.Call, outcome: bool) -> None:
    function = node.function
    name = last_name(function)
    path = path_of(node.arguments[0])
    if path is None:
        return
    value = frame.env.get(path)
    if value is None:
        return
    if name == "isinstance" and len(node.arguments) == 2:
        names = type_names(node.arguments[1])
        own = instances_of(frame, value, node.arguments[1]) if outcome else None
        frame.env[path] = own or (is_one_of(frame, path, value, names) if outcome else is_none_of(value, names))
    elif name in TENSOR_TESTS:
        if outcome:
            frame.env[path] = tensor_of(value) or tensor(certainty=1)
        else:
            frame.env[path] = without_tensor(value)
    elif (
        name == "hasattr" and outcome and asks_for_tensor(node) and is_open(value) and not given_by_callers(frame, path)
    ):
        frame.env[path] = tensor(certainty=1)


def asks_for_tensor(node: ir.Call) -> bool:
    """``hasattr(x, "item")``: what nothing but a tensor is likely to have."""
    attribute = node.arguments[-1]
    return type(attribute) is ir.Constant and attribute.value in ("item", "detach", "cpu", "requires_grad")


def without_tensor(value: Value) -> Value:
    if type(value) is Tensor:
        return UNKNOWN
    if type(value) is Union:
        return union([part for part in value.alternatives if type(part) is not Tensor] or [UNKNOWN])
    return value


def given_by_callers(frame: Frame, path: str) -> bool:
    """A parameter whose arguments are known from the calls in sight: nothing is guessed of it."""
    function = frame.function
    return frame.engine.program.is_called(function) and any(p.name == path for p in function.parameters)


def is_one_of(frame: Frame, path: str, value: Value, names: list[str]) -> Value:
    """What is left of a value that is an instance of one of these types."""
    if any(name.endswith("Tensor") for name in names):
        known = tensor_of(value)
        if len(names) == 1:
            if known is not None:
                return known.but(optional=False)
            if given_by_callers(frame, path):
                return value
            return tensor(certainty=1) if is_open(value) else value
        return value if known is not None else UNKNOWN if value is UNKNOWN else value
    wanted = [TYPES[name] for name in names if name in TYPES]
    kept = [part for part in alternatives(value) if any(same_kind(part, want) for want in wanted)]
    if kept:
        return union(kept)
    if len(names) == 1 and names[0] in TYPES:
        return TYPES[names[0]]
    return UNKNOWN if tensor_of(value) is not None else value


def instances_of(frame: Frame, value: Value, wanted: ir.Expr) -> Value | None:
    """What is found to be of the program's own classes and of which nothing else is known: ``m in model.modules()``."""
    if value is not UNKNOWN and value != ANY_MODULE:
        return None
    asked = wanted.elements if type(wanted) is ir.Display else (wanted,)
    found = [frame.engine.program.expression_symbol(one, frame.function.module) for one in asked if path_of(one)]
    own = [frame.engine.instance_of(symbol) for symbol in found if isinstance(symbol, ir.ClassIR)]
    return union(own) if own and len(own) == len(asked) else None


ANY_MODULE = module_value("?")


def is_open(value: Value) -> bool:
    """It may be a tensor for all that is known."""
    return value is UNKNOWN or type(value) is Bound


def same_kind(part: Value, wanted: Value) -> bool:
    if type(part) is not type(wanted):
        return False
    if isinstance(part, Host) and isinstance(wanted, Host):
        return part.type == wanted.type
    if isinstance(part, Sequence) and isinstance(wanted, Sequence):
        return part.kind == wanted.kind
    return True


OTHER_TENSORS = frozenset({"DTensor", "FakeTensor", "ProxyTensor", "NestedTensor"})
"""Kinds of tensors: what is none of these may well be a plain one."""


def is_none_of(value: Value, names: list[str]) -> Value:
    if any(name.endswith("Tensor") and name not in OTHER_TENSORS for name in names):
        value = without_tensor(value)
    if type(value) is not Union:
        return value
    unwanted = [TYPES[name] for name in names if name in TYPES]
    kept = [part for part in value.alternatives if not any(same_kind(part, other) for other in unwanted)]
    return union(kept or [UNKNOWN])
