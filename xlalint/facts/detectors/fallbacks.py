"""Torch ops that fall back, read the host or have data-dependent shapes, by the measured table."""

from __future__ import annotations

import functools

import msgspec

from xlalint.facts.domain.lattice import sequence
from xlalint.facts.domain.values import NONE, XLA, Host, KnownObject, Sequence, Tensor, Value, surely_tensor, tensor_of
from xlalint.facts.events import Effect
from xlalint.facts.state.call import Call
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.conditions import UNKNOWN, Argument
from xlalint.knowledge.ops import OpRow
from xlalint.program import ir
from xlalint.program.traversal import called_name, last_name
from xlalint.sources.patterns import lazy_pattern

EFFECTS = {
    "nonzero": Effect.NONZERO,
    "argwhere": Effect.NONZERO,
    "nonzero_static": Effect.STATIC_NONZERO,
    "masked_select": Effect.BOOLEAN_INDEX,
    "index_put": Effect.BOOLEAN_ASSIGN,
    "index_put_": Effect.BOOLEAN_ASSIGN,
    "unique": Effect.UNIQUE,
    "unique_consecutive": Effect.UNIQUE,
    "bincount": Effect.BINCOUNT,
    "histc": Effect.BINCOUNT,
    "one_hot": Effect.ONE_HOT,
    "repeat_interleave": Effect.REPEAT_INTERLEAVE,
    "combinations": Effect.DATA_SIZED,
    "tensor_split": Effect.DATA_SIZED,
    "pack_padded_sequence": Effect.DATA_SIZED,
    "nms": Effect.DATA_SIZED,
    "batched_nms": Effect.DATA_SIZED,
    "equal": Effect.COMPARED_ON_HOST,
    "allclose": Effect.COMPARED_ON_HOST,
    "is_nonzero": Effect.COMPARED_ON_HOST,
    "assert_close": Effect.COMPARED_ON_HOST,
    "narrow": Effect.TENSOR_AS_NUMBER,
    "_assert_async": Effect.ASSERTION,
    "_check": Effect.ASSERTION,
}
"""The ops that have a rule of their own; all others that fall back are unlowered ops."""


def check_op(
    frame: Frame,
    row: OpRow,
    call: Call,
    *,
    method: bool = False,
) -> None:
    """Note what the call costs forward or, where gradients flow, backward."""
    if row.free or (frame.no_grad and row.costs == "never"):
        return
    live = [t for t in tensors_in([*call.arguments, *call.keywords.values()]) if t.live]
    if not live:
        return
    last = row.name.rpartition(".")[2]
    value = live[0]
    operand = operand_of(call.node, method)
    bound = bind(row, call.arguments, call.keywords)
    costs = row.costs_for(bound) if row.costs != "never" else False
    if costs is None:
        bound = with_counts(row, bound, call.node, method)
        costs = row.costs_for(bound)
    forward = sureness(costs, row.is_likely_for(bound))
    backward = None
    if row.backward_costs != "never" and not is_without_gradients(frame) and any(t.grad for t in live):
        backward = sureness(row.backward_costs_for(bound), row.is_backward_likely_for(bound))
        if is_called_by_name(frame) and frame.given_by_signature():
            backward = None
    if forward is not None and forward >= (0 if backward is None else backward):
        effect = EFFECTS.get(last, Effect.CPU_FALLBACK)
        detail = fallback_names(row, row.fallback, call.arguments, call.keywords)
        operand = read_argument(row, effect, call.node, method) or operand
        frame.emit(effect, call.node.at, value, row.name, operand, certainty=forward, detail=detail)
    elif backward is not None:
        detail = fallback_names(row, row.backward_fallback, call.arguments, call.keywords)
        frame.emit(
            Effect.CPU_FALLBACK,
            call.node.at,
            value,
            row.name,
            operand,
            certainty=backward,
            detail=detail,
            backward_only=True,
        )


def is_without_gradients(frame: Frame) -> bool:
    """Whether no backward pass goes through what runs here: gradients are off, or the model does not train."""
    return frame.no_grad or any(test_of_training(test) is (not outcome) for test, outcome in frame.tests)


def test_of_training(test: ir.Expr) -> bool | None:
    """The outcome of ``self.training``, or of its contrary, for which a model trains; None for other tests."""
    if type(test) is ir.Unary and test.operator == "not":
        outcome = test_of_training(test.operand)
        return None if outcome is None else not outcome
    is_asked = type(test) is ir.Attribute and test.name == "training"
    return True if is_asked else None


def with_counts(row: OpRow, bound: dict[str, Argument], node: ir.Call, method: bool) -> dict[str, Argument]:
    """The arguments, those told apart that nobody knows and whose names say that they count something."""
    texts: dict[str | None, ir.Expr] = dict(zip(row.parameter_names[method:], node.arguments, strict=False))
    texts.update(node.keywords)
    return {
        name: msgspec.structs.replace(given, tensor=False, counts=True)
        if given.tensor is not True and given.value is UNKNOWN and name in texts and tells_count(texts[name])
        else given
        for name, given in bound.items()
    }


def tells_count(node: ir.Expr) -> bool:
    """``num_experts``, ``self.head_size``, ``len(rows)``."""
    if type(node) is ir.Call:
        return called_name(node) == "len"
    return COUNT_NAMES.search(last_name(node)) is not None


COUNT_NAMES = lazy_pattern(r"^(num|n|nb)_|(^|_)(size|dim|classes|stride|length|count|factor)$")
"""Of names of numbers, not those of limits: ``max_norm`` is None as a rule."""


def sureness(costs: bool | None, likely: bool) -> int | None:
    """How sure it is that a call costs, None where it does not: what depends on an argument that nobody knows may."""
    if costs is None:
        return int(likely)
    return 2 if costs else None


def check_factory(frame: Frame, call: Call, made: Tensor) -> None:
    """The cost of an op that makes a tensor: it has no operand, and matters by where it makes it."""
    row = row_of_function(frame, call.name)
    if row is None or row.costs == "never" or made.device != XLA:
        return
    bound = bind(row, call.arguments, call.keywords)
    sure = sureness(row.costs_for(bound), row.is_likely_for(bound))
    if sure is not None:
        detail = fallback_names(row, row.fallback, call.arguments, call.keywords)
        frame.emit(Effect.CPU_FALLBACK, call.node.at, made, row.name, None, certainty=sure, detail=detail)


def check_newly_costly(
    frame: Frame,
    row: OpRow | None,
    call: Call,
    *,
    method: bool = False,
) -> None:
    """The same of an op that is evaluated apart, because it is free or tells its cost itself: a device may differ."""
    if row is not None and row.name in frame.ops.newly_costly:
        check_op(frame, row, call, method=method)


def fallback_names(row: OpRow, ops: tuple[str, ...], arguments: list[Value], keywords: dict[str, Value]) -> str:
    """The ``aten`` ops that fall back; where an op has many, those that the call's words (``mode="bicubic"``), or the
    word that stands in for none, and the rank of its tensor name: of an unknown one that of images."""
    given = [*arguments, *keywords.values()]
    words = [v.constant for v in given if type(v) is Host and isinstance(v.constant, str)] or default_words(row)
    chosen = [name for name in ops if any(names_word(name, word) for word in words)]
    chosen = chosen or [in_mode(name, word) for name in ops for word in words[:1]] or list(ops)
    ranks = [t.rank for t in tensors_in(given[:1]) if t.rank is not None]
    size = f"{ranks[0] - 2 if ranks else 2}d"
    sized = [name for name in chosen if size in name]
    return " ".join(f"aten::{name}" for name in (sized or chosen)[:3])


@functools.cache
def default_words(row: OpRow) -> tuple[str, ...]:
    """``nearest`` of ``mode=nearest``."""
    parts = (parameter.partition("=") for parameter in row.parameters.split())
    return tuple(default for name, _, default in parts if name == "mode" and default not in ("", "None"))


def in_mode(op: str, word: str) -> str:
    """The same op in another mode than the one that was measured: ``upsample_nearest2d`` if that is "bilinear"."""
    return RESIZING.sub(RESIZED[word], op) if word in RESIZED else op


RESIZING = lazy_pattern(r"_?upsample_[a-z_]+(\d)d")
RESIZED = {
    "nearest": r"upsample_nearest\1d",
    "nearest-exact": r"_upsample_nearest_exact\1d",
    "linear": "upsample_linear1d",
    "bilinear": "upsample_bilinear2d",
    "bicubic": "upsample_bicubic2d",
    "trilinear": "upsample_trilinear3d",
}
"""The op of each mode of resizing."""


def names_word(op: str, word: str) -> bool:
    word = word.replace("-", "_")
    return word in op and ("exact" in op) == ("exact" in word)


def is_called_by_name(frame: Frame) -> bool:
    """Whether gradients flow into a function is told by its calls, where there are any."""
    return frame.engine.program.is_called(frame.function) and frame.function.name != "forward"


READ_ARGUMENTS = {Effect.REPEAT_INTERLEAVE: "repeats"}
"""The parameter that is read, where that is not the first."""


def read_argument(row: OpRow, effect: Effect, node: ir.Call, method: bool) -> ir.Expr | None:
    name = READ_ARGUMENTS.get(effect)
    if name is None or name not in row.parameter_names:
        return None
    given = next((value for keyword, value in node.keywords if keyword == name), None)
    position = row.parameter_names.index(name) - (1 if method else 0)
    return given or (node.arguments[position] if 0 <= position < len(node.arguments) else None)


def operand_of(node: ir.Call, method: bool) -> ir.Expr | None:
    if method and type(node.function) is ir.Attribute:
        return node.function.value
    return node.arguments[0] if node.arguments else None


def tensors_in(values: list[Value]) -> list[Tensor]:
    found = []
    for value in values:
        known = tensor_of(value)
        if known is not None:
            found.append(known)
        elif type(value) is Sequence and (inner := tensor_of(value.element)) is not None:
            found.append(inner)
    return found


def bind(row: OpRow, arguments: list[Value], keywords: dict[str, Value]) -> dict[str, Argument]:
    names: list[str] = []
    for name in row.parameter_names:
        if name == "*":
            break
        names.append(name)
    bound = {name: argument(value) for name, value in zip(names, arguments, strict=False)}
    if len(arguments) > len(names) and names:
        rest = arguments[len(names) - 1 :]
        bound[names[-1]] = argument(sequence("tuple", rest))
    for name, value in keywords.items():
        if name != "**":
            bound[{"axis": "dim"}.get(name, name)] = argument(value)
    return bound


KINDS = {"bool": "bool", "uint8": "int", "int": "int", "float": "float", "complex": "complex"}


def argument(value: Value) -> Argument:
    known = tensor_of(value)
    if known is not None and (type(value) is Tensor or surely_tensor(value) or type(value) is KnownObject):
        kinds = frozenset({KINDS[known.dtype]}) if known.dtype in KINDS else None
        if known.dtype == "other":
            kinds = frozenset({"int", "float"})
        return Argument(tensor=True, dtypes=kinds, rank=known.rank, shape=known.dims, grad=known.grad)
    if type(value) is Host:
        if value is NONE:
            return Argument(value=None, tensor=False)
        return Argument(value=value.constant if value.known else UNKNOWN, tensor=None if value.type == "?" else False)
    if type(value) is Sequence:
        return sequence_argument(value)
    return Argument()


def sequence_argument(value: Sequence) -> Argument:
    inner = tensor_of(value.element)
    if inner is not None:
        kinds = frozenset({KINDS[inner.dtype]}) if inner.dtype in KINDS else None
        return Argument(tensor=False, dtypes=kinds)
    if value.elements is None:
        return Argument(tensor=False)
    members: list[object] = []
    for element in value.elements:
        if element is NONE:
            members.append(None)
        elif type(element) is Host and element.known:
            members.append(element.constant)
        else:
            return Argument(tensor=False)
    return Argument(value=tuple(members), tensor=False)


def row_of_function(frame: Frame, name: str) -> OpRow | None:
    row = frame.ops.function(name)
    if row is None and name.startswith("torch.ops.aten."):
        row = frame.ops.function("torch." + name.split(".")[3])
    return row


def row_of_method(frame: Frame, name: str) -> OpRow | None:
    return frame.ops.method(name)


def is_free(frame: Frame, name: str) -> bool:
    """Whether an op that costs wherever it was measured before costs nothing on the device that the code is for."""
    row = frame.ops.function(name)
    return row is not None and row.free
