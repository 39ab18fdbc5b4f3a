"""Timed regions that meet a size for the first time: the measured time includes compilation.

A loop over sizes that are written out, between two readings of a clock, makes a graph for each of them. Only where
all of it stands in one function is it known that none of them was compiled before: the model or the tensors that a
step works on are made there before the clock is read, and no step is run on them until then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xlalint.facts.detectors.baked_numbers import SIZES, arguments_at
from xlalint.facts.detectors.round_trips import dotted_path
from xlalint.facts.detectors.varying_structure import last_line
from xlalint.facts.domain.row_lengths import number_of
from xlalint.facts.domain.values import (
    NONE,
    UNKNOWN,
    Bound,
    Class,
    Function,
    Host,
    Namespace,
    Sequence,
    Tensor,
    Value,
    tensor_of,
)
from xlalint.facts.events import FEW_SHAPES, Effect
from xlalint.facts.kinds import SignKind
from xlalint.facts.records import Sign
from xlalint.facts.state.frame import Frame
from xlalint.program import ir
from xlalint.program.def_use import same, way_to
from xlalint.program.traversal import blocks_of, called_name, names_in, receiver_node, walk

STEPPING = frozenset({SignKind.BACKWARD, SignKind.BOUNDARY, SignKind.MODEL_CALL})
"""The signs of a loop that gives the device work."""
WARM = "warm"
"""What a function that runs all sizes once is called after."""


def check_cold_sizes(frame: Frame, node: ir.Binary, start: ir.Assign, last: int) -> None:
    """``time.perf_counter() - start`` after a loop over sizes, outside of all loops."""
    way = way_to(frame.function.body, start)
    if not way:
        return
    before = [statement for block, position in way for statement in block[:position]]
    block, position = way[-1]
    first = line_of(start)
    frame.quiet += 1
    cold = [loop for loop in loops_in(block[position + 1 :], last) if is_cold(frame, loop, before, first)]
    sizes = [sizes_of(frame, loop) for loop in cold]
    frame.quiet -= 1
    if cold:
        frame.emit(Effect.COLD_SIZES, node.at, NONE, "elapsed", cold[0].iterable, certainty=1, detail=str(sizes[0]))


def loops_in(block: ir.Block, last: int) -> Iterator[ir.For]:
    """The outermost loops up to a line."""
    for statement in block:
        if line_of(statement) > last:
            return
        if type(statement) is ir.For:
            yield statement
        elif type(statement) is ir.With:
            yield from loops_in(statement.body, last)


def is_cold(frame: Frame, loop: ir.For, before: list[ir.Stmt], first: int) -> bool:
    """Whether each size is a new graph, and none of them was run before the line ``first``."""
    lines = range(line_of(loop), last_line(loop.body) + 1)
    if not any(sign.kind in STEPPING and line_of(sign) in lines for sign in frame.record.signs):
        return False
    sizes = sizes_of(frame, loop)
    steps = [part for part in walk(loop.body) if type(part) is ir.Call and part.at in frame.called_at]
    fresh = made_before(frame, steps, first)
    if sizes < 2 or not fresh:
        return False
    runners = {dotted_path(step.function) for step in steps if fresh & set(names_in(step))}
    if any(warms(frame, statement, fresh, runners, loop) for statement in before):
        return False
    # Each call that is not itself one of a loop over something runs one size.
    return runs(before, runners, sizes) < sizes


def sizes_of(frame: Frame, loop: ir.For) -> int:
    """How many shapes the turns of a loop have, where they are written out; else 0."""
    if is_range(loop.iterable):
        bounds = [number_of(frame.evaluate(bound)) for bound in loop.iterable.arguments]  # type: ignore[union-attr]
        known = [bound for bound in bounds if bound is not None]
        count = len(range(*known)) if len(known) == 3 and known[2] else 0
        return count if count <= FEW_SHAPES and makes_sizes(frame, loop) else 0
    values = frame.evaluate(loop.iterable) if type(loop.iterable) in (ir.Name, ir.Attribute, ir.Display) else UNKNOWN
    elements = values.elements if type(values) is Sequence and values.elements is not None else ()
    shapes = {known_sizes(element) for element in elements}
    if None in shapes:
        return 0
    tensors = any(type(element) is Tensor for element in elements)
    return len(shapes) if tensors or makes_sizes(frame, loop) else 0


def is_range(node: ir.Expr) -> bool:
    """``range(64, 513, 64)``; without a third number it counts, and is no list of sizes."""
    return type(node) is ir.Call and called_name(node) == "range" and len(node.arguments) == 3


def known_sizes(value: Value) -> tuple[int, ...] | None:
    """Of a tensor, or of a number or a tuple of them that becomes one's size."""
    if type(value) is Tensor:
        dims = value.dims or (None,)
    elif type(value) is Sequence:
        dims = tuple(map(number_of, value.elements or (UNKNOWN,)))
    else:
        dims = (number_of(value),)
    known = tuple(dim for dim in dims if dim is not None)
    return known if len(known) == len(dims) else None


def makes_sizes(frame: Frame, loop: ir.For) -> bool:
    """Whether the loop's own number is the size of a tensor, or cuts one."""
    own = set(names_in(loop.target))
    for part in walk(loop.body):
        if type(part) is ir.Call and own & set(names_in(sizes_given(part))) and works_on_tensors(frame, part):
            return True
        if type(part) is ir.Subscript and own & set(names_in(part.index)) and names_tensor(frame, part.value):
            return True
    return False


def sizes_given(call: ir.Call) -> tuple[ir.Expr, ...]:
    """The arguments of an op that become a tensor's size."""
    places = SIZES.get(called_name(call), ())
    if not places:
        return ()
    keywords = {name: value for name, value in call.keywords if name is not None}
    listed = (argument for argument in call.arguments if type(argument) is ir.Display)
    return (*arguments_at(places, call.arguments, keywords), *listed)


def works_on_tensors(frame: Frame, call: ir.Call) -> bool:
    receiver = receiver_node(call)
    callee = frame.evaluate(call.function) if dotted_path(call.function) else UNKNOWN
    if type(callee) is Namespace:
        return callee.name.startswith(("torch", "numpy"))
    return receiver is not None and names_tensor(frame, receiver)


def names_tensor(frame: Frame, node: ir.Expr) -> bool:
    return bool(dotted_path(node)) and tensor_of(frame.evaluate(node)) is not None


def made_before(frame: Frame, steps: list[ir.Call], first: int) -> set[str]:
    """What the steps work on and the function itself has made before the line ``first``; nothing where a part of it
    comes from elsewhere, for who gave it may have run it."""
    fresh = set()
    for name in {name for step in steps for name in names_in(step)}:
        bound = frame.bound_on(name)
        if 0 < bound < first:
            fresh.add(name)
        elif not bound and not has_no_graph(frame.evaluate(ir.Name(name, 0))):
            return set()
    return {name for name in fresh if not has_no_graph(frame.evaluate(ir.Name(name, 0)))}


def has_no_graph(value: Value) -> bool:
    """What has no graph of its own."""
    return type(value) in (Host, Function, Namespace, Class)


def warms(frame: Frame, statement: ir.Stmt, fresh: set[str], runners: set[str], loop: ir.For) -> bool:
    """Whether a statement may well have run all sizes: in a loop over the same, or by a function that says so, that is
    given what the steps work on, or that is called for its effect alone."""
    for part in walk(statement):
        if type(part) is ir.For and same(part.iterable, loop.iterable):
            return True
        if type(part) is not ir.Call or dotted_path(part.function) in runners:
            continue
        if WARM in called_name(part).lower():
            return True
        callee = frame.evaluate(part.function) if dotted_path(part.function) else UNKNOWN
        values = (*part.arguments, *(value for _, value in part.keywords))
        given = fresh & {value.name for value in values if type(value) is ir.Name}
        if given and type(callee) not in (Namespace, Class, Bound):
            return True
        if type(callee) is Function and type(statement) is ir.Evaluate and statement.value is part:
            return True
    return False


def runs(block: Iterable[ir.Stmt], runners: set[str], many: int) -> int:
    """How many sizes a block may run: as many as it has calls of a step, and ``many`` where their turns may differ."""
    total = 0
    for statement in block:
        inner = blocks_of(statement)
        steps = [part for part in walk(statement) if type(part) is ir.Call and dotted_path(part.function) in runners]
        count = sum(runs(one, runners, many) for one in inner) if inner else len(steps)
        varying = type(statement) is ir.While or any(type(part) is ir.Comprehension for part in walk(statement))
        if type(statement) is ir.For:
            varying = varying or bool(set(names_in(statement.target)) & set(names_in(statement.body)))
        total += many if count and varying else count
    return total


def line_of(node: ir.Stmt | Sign) -> int:
    return ir.unpack(node.at)[0]
