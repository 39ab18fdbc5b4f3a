"""Python's builtins, as they treat tensors."""

from __future__ import annotations

from collections.abc import Callable

from xlalint.facts.detectors.graph_breaks import check_break
from xlalint.facts.detectors.text_reads import printed, read_by_text, shown_tensor
from xlalint.facts.detectors.varying_structure import draws_one_of_many
from xlalint.facts.domain import row_lengths
from xlalint.facts.domain.lattice import join_all, sequence
from xlalint.facts.domain.refinement import as_operand
from xlalint.facts.domain.role import Role
from xlalint.facts.domain.values import (
    ANY_HOST,
    BOOL,
    FALSE,
    INFINITE,
    INT,
    LONGEST,
    NONE,
    OBJECT,
    ROW,
    SHORTEST,
    STR,
    TRUE,
    UNKNOWN,
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
    class_object,
    constant,
    host,
    known_object,
    mapping,
    super_of,
    surely_tensor,
    tensor_of,
)
from xlalint.facts.events import Effect
from xlalint.facts.guards import narrowing
from xlalint.facts.guards.device_branches import are_cuda_types
from xlalint.facts.kinds import SignKind
from xlalint.facts.libraries.python.named_attributes import getattr_, setattr_, vars_
from xlalint.facts.operations import members
from xlalint.facts.operations.unknown_callee import call_unknown
from xlalint.facts.state.call import Arguments, Call
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.tables import guards
from xlalint.program import ir
from xlalint.program.traversal import called_name, type_names


def call_builtin(frame: Frame, call: Call) -> Value:
    handler = BUILTINS.get(call.name)
    if handler is not None:
        return handler(frame, call)
    if call.name in RESULTS:
        return RESULTS[call.name]
    if call.name in frame.engine.assumptions.host_functions:
        return ANY_HOST
    return call_unknown(frame, call)


RESULTS: dict[str, Value] = {
    **dict.fromkeys(("hasattr", "callable", "issubclass"), BOOL),
    **dict.fromkeys(("id", "hash", "ord"), INT),
    **dict.fromkeys(("chr", "hex", "bin", "oct", "ascii", "input"), STR),
    "open": OBJECT,
    "locals": mapping((), UNKNOWN),
    "globals": mapping((), UNKNOWN),
    "slice": OBJECT,
    "divmod": sequence("tuple", (INT, INT)),
    "exit": NONE,
}


def first(arguments: Arguments) -> Value:
    return arguments[0] if arguments else UNKNOWN


def argument_node(node: ir.Call) -> ir.Expr | None:
    return node.arguments[0] if node.arguments else None


def number(frame: Frame, call: Call) -> Value:
    value = as_operand(first(call.arguments))
    if isinstance(value, (Instance, Struct)) and members.has_method(frame, value, f"__{call.name}__"):
        return members.call_special_method(frame, value, f"__{call.name}__", [], call.node.at)
    known = tensor_of(value)
    if known is not None and known.live and surely_tensor(value):
        frame.emit(Effect.SCALAR_READ, call.node.at, value, call.name, argument_node(call.node))
        longest = LONGEST if call.name == "int" and row_lengths.largest_item(argument_node(call.node)) else None
        return host(call.name if call.name != "complex" else "float", varies=longest, read_from_device=True)
    if call.name == "int" and row_lengths.largest_item(argument_node(call.node)):
        return host("int", varies=LONGEST)
    if known is not None and call.node.arguments and draws_one_of_many(frame, call.node.arguments[0]):
        return host(call.name, varies=frame.draw_key(), read_from_device=True)
    if type(value) is Host:
        if call.name == "int" and type(value.constant) is int:
            return value
        if call.name == "float" and value.constant == "inf":
            return INFINITE
        return host(
            call.name if call.name != "complex" else "float",
            varies=value.varies,
            read_from_device=value.read_from_device,
        )
    return host(call.name if call.name != "complex" else "float")


def largest(frame: Frame, call: Call) -> Value:
    if len(call.arguments) > 1:
        length = row_lengths.largest_of(call.name, call.arguments, call.node.arguments, frame.loop_key() is not None)
        if length is not None:
            return length
        if call.name == "min" and call.node.at in row_lengths.running_minima(frame.function.body):
            return host("int", varies=SHORTEST)
        tensors = [v for v in call.arguments if type(v) is Tensor]
        live = next((t for t in tensors if t.live), None)
        if live is not None:
            both = len(call.arguments) == 2 and len(tensors) == 2
            compared = (
                call.node.arguments[call.arguments.index(live)]
                if len(call.arguments) == len(call.node.arguments)
                else None
            )
            form = "two-tensors" if both else ""
            frame.emit(Effect.BUILTIN_OVER_TENSORS, call.node.at, live, call.name, compared, form=form)
        if tensors:
            return join_all(call.arguments) if len(tensors) == len(call.arguments) else tensors[0].but(dtype=None)
        return join_all(call.arguments) if all(type(v) is Host for v in call.arguments) else UNKNOWN
    value = first(call.arguments)
    is_max = call.name == "max"
    longest = row_lengths.longest_of(value, argument_node(call.node)) if is_max else row_lengths.shortest_of(value)
    if longest is not None:
        return longest
    if type(value) is Sequence:
        element = value.element
        many = value.elements is None or len(value.elements) > 1
        key = sort_key(frame, element, call) if many else element
        if type(key) is Tensor and key.live and many:
            frame.emit(Effect.BUILTIN_OVER_TENSORS, call.node.at, key, call.name, argument_node(call.node))
        return element
    if type(value) is Tensor:
        if value.live:
            frame.emit(Effect.BUILTIN_OVER_TENSORS, call.node.at, value, call.name, argument_node(call.node))
        return members.element_of(frame, value)
    return ANY_HOST if type(value) is Host else UNKNOWN


def total(frame: Frame, call: Call) -> Value:
    value = first(call.arguments)
    if type(value) is Sequence:
        known = as_operand(value.element)
        if type(known) is Tensor:
            return known
        return value.element if type(value.element) is Host and value.elements != () else UNKNOWN
    if type(value) is Tensor:
        return members.element_of(frame, value)
    return UNKNOWN


def quantified(frame: Frame, call: Call) -> Value:
    value = first(call.arguments)
    element = value.element if type(value) is Sequence else None
    if type(value) is Tensor:
        element = members.element_of(frame, value)
    if type(element) is Tensor and element.live:
        frame.emit(Effect.BUILTIN_OVER_TENSORS, call.node.at, element, call.name, argument_node(call.node))
    return BOOL


def sort_key(frame: Frame, element: Value, call: Call) -> Value:
    """What elements are compared by: what ``key`` gives for one."""
    key = call.keywords.get("key", NONE)
    if key is NONE or call.name == "filter":
        return element
    if type(key) is Function:
        return frame.call(key, call.given([element], {}))
    node = next((value for name, value in call.node.keywords if name == "key"), None)
    asked = (
        node.arguments[0] if type(node) is ir.Call and called_name(node) == "attrgetter" and node.arguments else None
    )
    if type(asked) is ir.Constant and isinstance(asked.value, str) and asked.value.isidentifier():
        return members.attribute(frame, element, asked.value)
    return UNKNOWN


def ordered(frame: Frame, call: Call) -> Value:
    value = call.arguments[-1] if call.name == "filter" and call.arguments else first(call.arguments)
    element = value.element if type(value) is Sequence else None
    element = members.element_of(frame, value) if type(value) is Tensor and value.live else element
    element = None if element is None else sort_key(frame, element, call)
    compares = call.name != "filter" or (bool(call.arguments) and call.arguments[0] is NONE)
    if type(element) is Tensor and element.live and compares:
        frame.emit(Effect.BUILTIN_OVER_TENSORS, call.node.at, element, call.name, argument_node(call.node))
    if call.name == "filter" and call.arguments and type(call.arguments[0]) is Function:
        element = members.element_of(frame, value)
        outcome = frame.call(call.arguments[0], call.given([element], {}))
        if type(outcome) is Tensor and outcome.live:
            frame.emit(Effect.FILTER, call.node.at, outcome, "filter", argument_node(call.node))
    return sequence("list", None, members.element_of(frame, value))


def range_(frame: Frame, call: Call) -> Value:
    for value, argument in zip(call.arguments, call.node.arguments, strict=False):
        if type(value) is Tensor and value.live:
            frame.emit(Effect.TENSOR_AS_NUMBER, call.node.at, value, "range", argument)
            break
    varies = next((value.varies for value in call.arguments if type(value) is Host and value.varies), None)
    if len(call.arguments) == 1 and type(call.arguments[0]) is Host and call.arguments[0].constant == 0:
        return NO_TURNS
    return host("range", varies=varies)


NO_TURNS = host("range", 0)
"""``range(torch.cuda.device_count())``."""


def print_(frame: Frame, call: Call) -> Value:
    printed(frame, call.name, call)
    check_break(frame, call.name, call.node)
    return NONE


def reveal(frame: Frame, call: Call) -> Value:
    """No builtin of Python: tests of facts ask by it what is known of a value."""
    if frame.engine.reveal is None or len(call.arguments) != 1:
        return UNKNOWN
    frame.engine.reveal(frame.path, ir.unpack(call.node.at)[0], call.arguments[0])
    return call.arguments[0]


def text(frame: Frame, call: Call) -> Value:
    if call.arguments:
        value = call.arguments[0]
        known = shown_tensor(value)
        if known is not None and call.name == "format" and len(call.arguments) > 1:
            frame.emit(Effect.SCALAR_READ, call.node.at, known, "format", argument_node(call.node))
        else:
            read_by_text(frame, value, call.node.at, call.name, argument_node(call.node))
        if call.name == "str" and type(value) is Host and value.known and type(value.constant) in (int, str):
            return constant(str(value.constant))
    return STR


def length(frame: Frame, call: Call) -> Value:
    value = first(call.arguments)
    if isinstance(value, (Instance, Struct)) and members.has_method(frame, value, "__len__"):
        return members.call_special_method(frame, value, "__len__", [], call.node.at)
    if type(value) is Sequence and value.elements is not None and value.kind == "tuple":
        return constant(len(value.elements))
    if type(value) is Tensor:
        if value.dims and value.dims[0] is not None:
            return constant(value.dims[0])
        return host("int", varies=value.varies_at(0))
    return INT


CONTAINERS = frozenset({"list", "tuple", "Tensor", "dict", "str", "Sequence"})


def isinstance_(frame: Frame, call: Call) -> Value:
    if len(call.node.arguments) < 2:
        return BOOL
    value = call.arguments[0]
    if are_cuda_types(call.node.arguments[1]):
        return FALSE
    names = set(type_names(call.node.arguments[1]))
    has_tensor = any(n.endswith("Tensor") for n in names)
    known = guards().instances
    if all(known.get(n) is False for n in names):
        return FALSE
    if not names.isdisjoint({"?", *known, *narrowing.OTHER_TENSORS}):
        return BOOL
    if type(value) is Tensor and not value.optional and value.certainty >= 1:
        return BOOL if "Parameter" in names or "Variable" in names else constant(has_tensor)
    if type(value) is Host and names == {"Tensor"}:
        return FALSE
    if type(value) is Host and value.type in ("int", "float", "str", "bool", "none"):
        plain = names <= {"int", "float", "str", "bool", "Tensor", "list", "tuple", "dict"}
        if value is NONE:
            return FALSE
        return constant(value.type in names or (value.type == "bool" and "int" in names)) if plain else BOOL
    if type(value) is Host and value.type in ("size", "numpy") and names <= CONTAINERS:
        return constant(value.type == "size" and not names.isdisjoint(("tuple", "Sequence")))
    if type(value) is Sequence and names <= {*CONTAINERS, "int", "float"}:
        return constant(value.kind in names or "Sequence" in names) if value.elements is not None else BOOL
    if type(value) is Mapping:
        if not names.isdisjoint({"dict", "Mapping", "MutableMapping"}):
            return TRUE
        return FALSE if names <= {"list", "tuple", "Tensor", "str", "int", "float"} else BOOL
    return BOOL


def collected(frame: Frame, call: Call) -> Value:
    kind = "set" if call.name == "frozenset" else call.name
    if not call.arguments:
        return sequence(kind, ())
    value = call.arguments[0]
    if type(value) is Sequence and kind != "set":
        return sequence(kind, value.elements, value.element)
    if type(value) is Host and value.type == "size":
        return value
    if type(value) is Module:
        return value
    return sequence(kind, None, members.element_of(frame, value))


def dict_(frame: Frame, call: Call) -> Value:
    items = tuple((k, v) for k, v in call.keywords.items() if k != "**")
    if call.arguments and type(call.arguments[0]) is Mapping:
        known = dict(call.arguments[0].items)
        known.update(items)
        return mapping(tuple(known.items()), call.arguments[0].rest)
    rest = pairs_value(members.element_of(frame, call.arguments[0])) if call.arguments else None
    return mapping(items, UNKNOWN if "**" in call.keywords else rest)


def pairs_value(pair: Value) -> Value:
    """The value of a pair: ``dict(zip(names, values))``."""
    if type(pair) is not Sequence or pair.elements is None or len(pair.elements) != 2:
        return UNKNOWN
    return pair.elements[1]


def zipped(frame: Frame, call: Call) -> Value:
    loader = next((v for v in call.arguments if type(v) is KnownObject and v.role == Role.LOADER), None)
    if call.arguments and all(type(v) is Sequence and v.elements is not None for v in call.arguments):
        rows = [v.elements for v in call.arguments if type(v) is Sequence and v.elements is not None]
        if len({len(row) for row in rows}) == 1 and len(rows[0]) <= 6:
            return sequence("list", [sequence("tuple", parts) for parts in zip(*rows, strict=False)])
    element = sequence("tuple", [members.element_of(frame, v) for v in call.arguments])
    return known_object(Role.LOADER, element, loader.detail) if loader is not None else sequence("list", None, element)


def enumerated(frame: Frame, call: Call) -> Value:
    value = first(call.arguments)
    element = sequence("tuple", (INT, members.element_of(frame, value)))
    if type(value) is KnownObject and value.role == Role.LOADER:
        return known_object(Role.LOADER, element, value.detail)
    return sequence("list", None, element)


def reversed_(frame: Frame, call: Call) -> Value:
    value = first(call.arguments)
    if type(value) is Host and value.type == "range":
        return value
    return sequence("list", None, members.element_of(frame, value))


def mapped(frame: Frame, call: Call) -> Value:

    if len(call.arguments) < 2:
        return UNKNOWN
    elements = [members.element_of(frame, value) for value in call.arguments[1:]]
    element = frame.call(call.arguments[0], call.given(elements, {}))
    if type(call.node.arguments[0]) is ir.Name and call.node.arguments[0].name == "len":
        element = host("int", varies=ROW)
    return sequence("list", None, element)


def next_(frame: Frame, call: Call) -> Value:
    value = first(call.arguments)
    if type(value) is KnownObject and value.role in (Role.LOADER, Role.ITERATOR):
        frame.sign(SignKind.LOADER, call.node.at)
    return members.element_of(frame, value)


def first_value(frame: Frame, call: Call) -> Value:
    return first(call.arguments)


def round_(frame: Frame, call: Call) -> Value:
    value = first(call.arguments)
    known = tensor_of(value)
    if known is not None:
        return known
    if type(value) is Host:
        return host(
            "int" if len(call.arguments) == 1 else "float", varies=value.varies, read_from_device=value.read_from_device
        )
    return ANY_HOST


def super_(frame: Frame, call: Call) -> Value:
    cls = frame.engine.program.owner(frame.function)
    receiver = frame.receiver or frame.env.get("self")
    if cls is None or receiver is None:
        return UNKNOWN
    return super_of(cls, receiver)


def type_of(frame: Frame, call: Call) -> Value:
    value = first(call.arguments)
    return class_object(value.ir) if isinstance(value, (Instance, Struct)) and len(call.arguments) == 1 else OBJECT


def breakpoint_(frame: Frame, call: Call) -> Value:
    frame.emit(Effect.BREAKPOINT, call.node.at, NONE, "breakpoint")
    return NONE


def exec_(frame: Frame, call: Call) -> Value:
    """A configuration that a script executes may set any of its variables to another value."""
    if frame.function.name == "<module>":
        for variable, value in [*frame.env.items()]:
            if type(value) is Host and value.known:
                frame.bind(variable, UNKNOWN if value is NONE else host(value.type))
    return NONE


Builtin = Callable[[Frame, Call], Value]
BUILTINS: dict[str, Builtin] = {
    "reveal": reveal,
    **dict.fromkeys(("float", "int", "bool", "complex"), number),
    **dict.fromkeys(("max", "min"), largest),
    "sum": total,
    **dict.fromkeys(("any", "all"), quantified),
    **dict.fromkeys(("sorted", "filter"), ordered),
    "range": range_,
    "print": print_,
    "exec": exec_,
    **dict.fromkeys(("str", "repr", "format"), text),
    "len": length,
    "isinstance": isinstance_,
    "getattr": getattr_,
    "setattr": setattr_,
    "vars": vars_,
    **dict.fromkeys(("list", "tuple", "set", "frozenset"), collected),
    "dict": dict_,
    "zip": zipped,
    "enumerate": enumerated,
    "reversed": reversed_,
    "map": mapped,
    "next": next_,
    **dict.fromkeys(("iter", "abs"), first_value),
    "round": round_,
    "super": super_,
    "type": type_of,
    "breakpoint": breakpoint_,
}
