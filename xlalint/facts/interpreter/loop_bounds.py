"""How many turns a loop makes, where what it iterates tells: ``range(8)``, ``range(LAYERS)``, a table of the file."""

from __future__ import annotations

from typing import Final

from xlalint.facts.domain.values import Host, Sequence, Value
from xlalint.facts.state.frame import Frame
from xlalint.program import ir
from xlalint.program.traversal import called_name

WRAPPING: Final = frozenset({"enumerate", "reversed", "list", "tuple", "sorted", "tqdm"})
"""What gives as many elements as it is given."""
MOST_TURNS: Final = 1_000_000
UNKNOWN_BOUND: Final = 0


def turns_of(frame: Frame, node: ir.Expr, iterable: Value) -> int:
    """The turns of a loop; 0 where nobody knows."""
    if type(iterable) is Sequence and iterable.elements is not None:
        return len(iterable.elements)
    while type(node) is ir.Call and node.arguments and called_name(node) in WRAPPING:
        node = node.arguments[0]
    if type(node) is not ir.Call or called_name(node) not in ("range", "trange") or not 0 < len(node.arguments) < 4:
        return UNKNOWN_BOUND
    bounds = [bound for argument in node.arguments if (bound := number(frame, argument)) is not None]
    if len(bounds) < len(node.arguments) or 0 in bounds[2:]:
        return UNKNOWN_BOUND
    return min(len(range(*bounds)), MOST_TURNS)


def number(frame: Frame, node: ir.Expr) -> int | None:
    """The value of a bound; of a parameter that no call in sight gives, its default."""
    if type(node) is ir.Call and called_name(node) == "len" and len(node.arguments) == 1:
        held = frame.evaluate(node.arguments[0])
        return len(held.elements) if type(held) is Sequence and held.elements is not None else None
    value = frame.evaluate(node)
    if type(value) is Host and type(value.constant) is int:
        return value.constant
    if type(node) is not ir.Name or node.name in frame.origins:
        return None
    for one in frame.function.parameters:
        if one.name == node.name and type(one.default) is ir.Constant and type(one.default.value) is int:
            return one.default.value
    return None


def takes_no_turn(iterable: Value) -> bool:
    """``range(torch.cuda.device_count())``: on XLA there is none."""
    return type(iterable) is Host and iterable.type == "range" and iterable.constant == 0
