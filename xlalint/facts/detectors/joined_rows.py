"""Collators that join rows of which each sample has its own number: ``torch.cat(labels)``, ``mask.nonzero()``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from xlalint.facts.domain.values import NONE, Host, Tensor, Value, constant, tensor_of
from xlalint.facts.events import Effect
from xlalint.facts.state.call import Call
from xlalint.facts.state.frame import Frame
from xlalint.program import ir
from xlalint.program.traversal import names_in, walk
from xlalint.sources.patterns import lazy_pattern

IN_BATCH = "in the batch"
"""The form of an event that costs only where batches are made."""
JOINING = frozenset({"cat", "concat", "concatenate", "hstack", "vstack"})
PICKING = frozenset({"nonzero", "argwhere", "masked_select"})
WIDENING = frozenset({"unsqueeze", "expand_dims"})
STACKING = frozenset({"stack", "default_collate"})
IMAGES = lazy_pattern(r"imag|img|pixel|video|frame|feat|^x$")
"""Names of what has one size for all samples, for the most part."""


def check_joined(frame: Frame, call: Call) -> None:
    """``torch.cat(labels, 0)`` in a collator: what each sample has its own number of, as is told by what is done to
    the rows, or by what is stacked beside them."""
    dim = call.arguments[1] if len(call.arguments) > 1 else call.keywords.get("dim", call.keywords.get("axis", NONE))
    if call.last not in JOINING or not call.node.arguments or dim not in (NONE, constant(0)):
        return
    rows = call.node.arguments[0]
    if type(rows) is ir.Display or is_widened(rows) or lies_on_device(call.arguments[0]):
        return
    told = is_numbered(frame.function.body, names_of(rows))
    beside = not STACKING.isdisjoint(frame.function.called) and not any(map(IMAGES.search, names_of(rows)))
    if told or beside:
        frame.emit(Effect.PADDED_TO_LONGEST, call.node.at, NONE, "joined", rows, certainty=1, form=IN_BATCH)


def lies_on_device(value: Value) -> bool:
    held = getattr(value, "element", value)
    known = tensor_of(held) if isinstance(held, (Tensor, Host)) else None
    return known is not None and known.device is not None and known.live


def is_widened(rows: ir.Expr) -> bool:
    """``[row.unsqueeze(0) for row in rows]``, ``[row[None] for row in rows]``: that is a stack."""
    if type(rows) is not ir.Comprehension:
        return False
    element = rows.element
    if type(element) is ir.Call:
        return isinstance(element.function, (ir.Name, ir.Attribute)) and element.function.name in WIDENING
    return type(element) is ir.Subscript and any(
        type(part) is ir.Constant and part.value is None for part in walk(element.index)
    )


def names_of(rows: ir.Expr) -> tuple[str, ...]:
    """The names and the keys that tell what is joined."""
    keys = (part.value for part in walk(rows) if type(part) is ir.Constant and isinstance(part.value, str))
    return tuple(map(str.lower, (*names_in(rows), *keys)))


@lru_cache(maxsize=1024)
def is_numbered(body: ir.Block, names: tuple[str, ...]) -> bool:
    """``for i, label in enumerate(labels): label[:, 0] = i``: each row is told whose it is."""
    return any(
        type(part) is ir.For
        and type(part.iterable) is ir.Call
        and [*names_in(part.iterable.function)] == ["enumerate"]
        and not set(map(str.lower, names_in(part.iterable))).isdisjoint(names)
        and any(type(target) is ir.Subscript for target in targets_in(part.body))
        for part in body
    )


def targets_in(block: ir.Block) -> Iterator[ir.Expr]:
    return (target for statement in block if type(statement) is ir.Assign for target in statement.targets)


def check_picked(frame: Frame, call: Call, operand: Tensor) -> None:
    """``indices = mask.nonzero()`` of a host tensor, which the function gives away."""
    if call.last in PICKING and not operand.live and is_given_away(frame.function.body, call.node.at):
        frame.emit(Effect.PADDED_TO_LONGEST, call.node.at, NONE, "picked", None, certainty=1, form=IN_BATCH)


@lru_cache(maxsize=1024)
def is_given_away(body: ir.Block, at: int) -> bool:
    """Whether the name that a call's result is bound to is returned."""
    bound = {
        target.name
        for part in walk(body)
        if type(part) is ir.Assign and ir.encloses(part.at, at)
        for target in part.targets
        if type(target) is ir.Name
    }
    returned = (part.value for part in walk(body) if type(part) is ir.Return and part.value is not None)
    return any(not bound.isdisjoint(handed_on(value)) for value in returned)


def handed_on(node: ir.Expr) -> Iterator[str]:
    """The names of what an expression holds, whole or in part: not of what is only asked or counted."""
    if type(node) is ir.Name:
        yield node.name
    elif type(node) is ir.Subscript:
        yield from handed_on(node.value)
    elif type(node) is ir.Call and type(node.function) is ir.Attribute:
        yield from handed_on(node.function.value)
    elif type(node) is ir.Display:
        for part in node.elements:
            yield from handed_on(part)
    elif type(node) is ir.DictDisplay:
        for part in node.values:
            yield from handed_on(part)
