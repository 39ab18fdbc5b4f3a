"""Comparisons: what they read on the host, and whether their outcome is known."""

from __future__ import annotations

from xlalint.facts.domain.lattice import union
from xlalint.facts.domain.refinement import as_operand
from xlalint.facts.domain.values import (
    BOOL,
    FALSE,
    NONE,
    NUMPY,
    RANK,
    TRUE,
    UNKNOWN,
    XLA_DEVICE,
    Bound,
    Class,
    Function,
    Host,
    Instance,
    KnownObject,
    Mapping,
    Module,
    Sequence,
    Struct,
    Tensor,
    Value,
    alternatives,
    constant,
    host,
    is_guess,
    surely_tensor,
    tensor_of,
)
from xlalint.facts.events import Effect
from xlalint.facts.guards.torch_version import COMPARISONS, compared_versions
from xlalint.facts.interpreter.conditions import differs_by_rank, is_read, read_as_truth, tested_operand
from xlalint.facts.operations import members
from xlalint.facts.operations.arithmetic import combined
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.tables import guards
from xlalint.program import ir
from xlalint.program.traversal import last_name, plain_callee


def evaluate_compare(frame: Frame, node: ir.Compare) -> Value:
    left = frame.evaluate(node.left)
    result: Value = BOOL
    chained = len(node.operators) > 1
    for operator, operand in zip(node.operators, node.rights, strict=False):
        right = frame.evaluate(operand)
        settled = None
        if operator in EQUALITIES and not chained:
            settled = settled_on_xla(node.left, left, operator, right)
            if settled is None:
                settled = settled_by_kind(node.left, operator, operand)
            if settled is None:
                settled = named_kind(node.left, left, operator, operand, right)
        elif operator in ORDERS and not chained:
            settled = settled_by_count(node.left, left, operator, right)
        result = compare(frame, node, operator, left, right) if settled is None else constant(settled)
        if chained and read_as_truth(result):
            frame.emit(Effect.BOOLEAN_OPERATOR, node.at, result, "chained comparison", tested_operand(frame, node))
        frame.asks_data |= is_read(left) or is_read(right)
        left = right
    return result


EQUALITIES = frozenset({"eq", "ne", "in", "not-in"})
"""Operators that ask whether something is one of certain things."""
NEVER_EQUAL = frozenset({"str", "dtype", "device", "size", "object"})
"""Types of values that no tensor is compared with element by element."""


def settled_on_xla(node: ir.Expr, left: Value, operator: str, right: Value) -> bool | None:
    """``device.type == "cuda"`` or ``self.device == "cuda"``, of a device that is not known to be another than XLA."""
    if not is_open_device(left) or not names_device(node):
        return None
    parts = right.elements if type(right) is Sequence else (right,)
    outcomes = {kind_on_xla(node, part) for part in parts or (UNKNOWN,)}
    if None in outcomes:
        return None
    return (True in outcomes) == (operator in ("eq", "in"))


def is_open_device(value: Value) -> bool:
    return value is XLA_DEVICE or not (type(value) is Host and value.known)


def names_device(node: ir.Expr) -> bool:
    """``device``, ``args.device``, ``x.device.type``, ``str(device)``, ``x.type()``."""
    if type(node) is ir.Call:
        if type(node.function) is ir.Attribute:
            return node.function.name == "type" and not node.arguments
        return plain_callee(node) == "str" and len(node.arguments) == 1 and names_device(node.arguments[0])
    if type(node) is ir.Attribute and node.name == "type":
        return "device" in last_name(node.value)
    return last_name(node).endswith(("device", "device_type"))


def kind_on_xla(node: ir.Expr, kind: Value) -> bool | None:
    """Whether the device at hand is of a kind: "cuda", "cuda:0", "xla"; so does the type of a tensor tell,
    "torch.cuda.HalfTensor"."""
    word = kind.constant if type(kind) is Host and kind.known and kind.type == "str" else None
    if word is None or (word == "tpu" and last_name(node) != "type"):
        return None
    of_type = type(node) is ir.Call and type(node.function) is ir.Attribute
    name = word.removeprefix("torch.").partition(".")[0] if of_type else word.partition(":")[0]
    return guards().compares.get(f"device.type={name}")


def named_kind(node: ir.Expr, left: Value, operator: str, operand: ir.Expr, right: Value) -> bool | None:
    """``"cuda" in str(device)``."""
    if operator not in ("in", "not-in") or type(node) is not ir.Constant or not names_device(operand):
        return None
    outcome = kind_on_xla(operand, left) if is_open_device(right) else None
    return None if outcome is None else outcome == (operator == "in")


def settled_by_kind(node: ir.Expr, operator: str, right: ir.Expr) -> bool | None:
    """``state.distributed_type == DistributedType.XLA``: by how the kind is spelled, for it is a member of a class."""
    if type(node) is not ir.Attribute or node.name != "distributed_type":
        return None
    table = guards().compares
    outcomes = {
        table.get(f"distributed_type=accelerate.DistributedType.{part.name}") if type(part) is ir.Attribute else None
        for part in (right.elements if type(right) is ir.Display else (right,))
    }
    if None in outcomes:
        return None
    return (True in outcomes) == (operator in ("eq", "in"))


def settled_by_count(node: ir.Expr, left: Value, operator: str, right: Value) -> bool | None:
    """``args.n_gpu > 1``, of a number that nothing else tells: by the name of what is counted."""
    if left is not UNKNOWN and type(left) is not Bound and (type(left) is not Host or left.known):
        return None
    if type(right) is not Host or not right.known or (operator, right.constant) not in MORE_THAN_ONE:
        return None
    outcome = guards().compares.get(f"{last_name(node).lower()}>1")
    return None if outcome is None else outcome == MORE_THAN_ONE[operator, right.constant]


ORDERS = frozenset({"gt", "ge", "lt", "le"})
MORE_THAN_ONE = {("gt", 1): True, ("ge", 2): True, ("le", 1): False, ("lt", 2): False}
"""Comparisons that ask whether there is more than one, and those that ask whether there is not."""


def compare(frame: Frame, node: ir.Compare, operator: str, a: Value, b: Value) -> Value:
    if operator in ("is", "is-not"):
        return identity(operator, a, b)
    if operator in ("in", "not-in"):
        return membership(frame, node, operator, a, b)
    if isinstance(a, (Instance, Struct)) and members.has_method(frame, a, f"__{operator}__"):
        return members.call_special_method(frame, a, f"__{operator}__", [b], node.at)
    a, b = as_operand(a), as_operand(b)
    ta, tb = tensor_of(a), tensor_of(b)
    if ta is not None or tb is not None:
        other = b if ta is not None else a
        if other is NONE or type(other) is Sequence or (type(other) is Host and other.type in NEVER_EQUAL):
            return BOOL
        if ta is not None and tb is None and NONE in alternatives(other) and other is not b:
            return BOOL
        frame.pending()
        result = combined(ta, tb, "bool", other=other)
        sure = surely_tensor(a) if ta is not None and tb is None else surely_tensor(a) or surely_tensor(b)
        if ta is None and tb is not None:
            sure = surely_tensor(b)
        return result if sure else union((result, BOOL))
    if a is NUMPY or b is NUMPY:
        return NUMPY
    if type(a) is Host and type(b) is Host:
        return compared_versions(operator, a, b) or compared_ranks(a, b) or compared_hosts(operator, a, b)
    if type(a) is Sequence and type(b) is Sequence:
        return compared_sequences(frame, node, operator, a, b)
    return UNKNOWN if UNKNOWN in (a, b) else BOOL


def identity(operator: str, a: Value, b: Value) -> Value:
    if b in (TRUE, FALSE) and type(a) is Host and a.known and a.type in ("bool", "none"):
        return constant((a is b) == (operator == "is"))
    if b is not NONE:
        return BOOL
    is_none: bool | None = None
    if a is NONE:
        is_none = True
    elif is_guess(a):
        is_none = None
    elif type(a) is Tensor:
        is_none = None if a.optional else False
    elif type(a) in (Sequence, Mapping, Module, Instance, Function, Struct, KnownObject, Class):
        is_none = False
    elif type(a) is Host:
        is_none = False if a.known or a.type not in ("?", "object") else None
    return BOOL if is_none is None else constant(is_none if operator == "is" else not is_none)


def membership(frame: Frame, node: ir.Compare, operator: str, a: Value, b: Value) -> Value:
    if type(a) is Host and a.type == "str" and type(b) is not Mapping:
        found = among(a, b)
        return BOOL if found is None else constant(found == (operator == "in"))
    if isinstance(b, (Instance, Struct)) and members.has_method(frame, b, "__contains__"):
        answer = members.call_special_method(frame, b, "__contains__", [a], node.at)
        if read_as_truth(answer):
            frame.emit(Effect.COMPARED_ON_HOST, node.at, answer, "in object", node.rights[0])
        return BOOL
    within = tensor_of(b)
    if type(b) is Tensor:
        if b.live:
            frame.emit(Effect.COMPARED_ON_HOST, node.at, b, "in tensor", node.rights[0])
    elif within is None and type(b) is Sequence:
        if names_first(node) or b.kind == "set":
            # A set looks for the same object by its hash.
            return BOOL
        sought, held = tensor_of(a), tensor_of(b.element)
        if type(b.element) is Host and b.element.type == "str":
            return BOOL
        if sought is not None and sought.live and surely_tensor(a) and b.elements != ():
            frame.emit(Effect.COMPARED_ON_HOST, node.at, a, "in list", node.left)
        elif held is not None and held.live and type(a) in (Tensor, Host) and surely_tensor(b.element):
            frame.emit(Effect.COMPARED_ON_HOST, node.at, b.element, "in list", node.rights[0])
    if type(b) is Mapping and type(a) is Host and a.known and b.rest is None and b.items:
        return constant((b.get(a.constant) is not None) == (operator == "in"))
    return BOOL


def names_first(node: ir.Compare) -> bool:
    """``t in [t, u]``: Python looks for the same object first, and compares nothing."""
    within = node.rights[0]
    if type(within) is not ir.Display or not within.elements:
        return False
    sought, first = node.left, within.elements[0]
    return type(sought) is ir.Name and type(first) is ir.Name and sought.name == first.name


def among(a: Host, b: Value) -> bool | None:
    """Whether a word is one of several, where all of them are known."""
    if type(b) is not Sequence or b.elements is None or not a.known:
        return None
    words = [part.constant for part in b.elements if type(part) is Host and part.known]
    return a.constant in words if len(words) == len(b.elements) else None


def compared_ranks(a: Host, b: Host) -> Value | None:
    """``rank == 0``; a rank that is compared with a negative number is asked whether there are ranks at all."""
    if differs_by_rank(a) == differs_by_rank(b):
        return None
    other = b if differs_by_rank(a) else a
    unset = other.type == "int" and other.known and other.constant < 0
    return BOOL if unset else host("bool", varies=RANK)


def compared_hosts(operator: str, a: Host, b: Host) -> Value:
    if a.type == "dtype" and b.type == "dtype" and "float16" in (a.constant, b.constant):
        # XLA computes in bfloat16: what guards float16 against overflow does not run there.
        guard = guards().compares.get("dtype=torch.float16")
        if guard is not None:
            return constant(guard == (operator == "eq"))
    if not (a.known and b.known):
        return BOOL
    if a.type == "dtype" or b.type == "dtype":
        if a.type != b.type or operator not in ("eq", "ne"):
            return BOOL
        if a.constant != b.constant:
            return constant(operator == "ne")
        return constant(operator == "eq") if a.constant == "bool" else BOOL
    if "device" in (a.type, b.type):
        apart = a.type == b.type and a.constant != b.constant and operator in ("eq", "ne")
        return constant(operator == "ne") if apart else BOOL
    x, y = a.constant, b.constant
    try:
        outcomes = {"eq": x == y, "ne": x != y}
        if operator not in outcomes:
            outcomes = {"lt": x < y, "le": x <= y, "gt": x > y, "ge": x >= y}
    except TypeError:
        return BOOL
    return constant(bool(outcomes[operator]))


def compared_sequences(frame: Frame, node: ir.Compare, operator: str, a: Sequence, b: Sequence) -> Value:
    known = tensor_of(a.element)
    alike = as_long(a, b)
    if (
        operator in ("eq", "ne")
        and alike is not False
        and known is not None
        and known.live
        and surely_tensor(a.element)
    ):
        frame.emit(Effect.COMPARED_ON_HOST, node.at, a.element, "lists", node.left, certainty=2 if alike else 1)
    left, right = constants_of(a), constants_of(b)
    if left is None or right is None or a.kind != b.kind or operator not in COMPARISONS:
        return BOOL
    return constant(COMPARISONS[operator](left, right))


def as_long(a: Sequence, b: Sequence) -> bool | None:
    """Whether two sequences are of the same length, None where that is not known: others are compared by it alone."""
    if a.elements is None or b.elements is None:
        return False if () in (a.elements, b.elements) else None
    return len(a.elements) == len(b.elements) > 0


def constants_of(value: Sequence) -> tuple[int, ...] | None:
    """The elements, where all of them are known numbers."""
    elements = value.elements
    if elements is None:
        return None
    known = tuple(part.constant for part in elements if type(part) is Host and part.known and part.type == "int")
    return known if len(known) == len(elements) else None
