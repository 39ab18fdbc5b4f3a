"""Loops, run to a fixpoint of at most three rounds."""

from __future__ import annotations

import functools
from collections.abc import Callable

from xlalint.facts.detectors.loop_carried import note_sums
from xlalint.facts.detectors.varying_structure import check_trips
from xlalint.facts.domain.lattice import sequence
from xlalint.facts.domain.role import Role
from xlalint.facts.domain.values import (
    ANY_HOST,
    DECLARED,
    INT,
    UNKNOWN,
    Host,
    Instance,
    KnownObject,
    Module,
    Sequence,
    Struct,
    Tensor,
    Value,
    alternatives,
    host,
)
from xlalint.facts.events import Effect
from xlalint.facts.guards.loop_counters import forget_first_values, remember_starts
from xlalint.facts.interpreter import conditions
from xlalint.facts.interpreter.loop_bounds import takes_no_turn, turns_of
from xlalint.facts.kinds import RegionKind, SignKind
from xlalint.facts.operations import members
from xlalint.facts.operations.placement import tells_no_device, unmoved
from xlalint.facts.state.environment import Environment, join_environments
from xlalint.facts.state.frame import Frame
from xlalint.facts.state.recorder import span_of
from xlalint.program import ir
from xlalint.program.def_use import calls_parts, carries, chains_parts, hands_on, steps_each, targets_of
from xlalint.program.kept_turns import leaves_something
from xlalint.program.moves import moves_part
from xlalint.program.traversal import called_name, calls_in, path_of, walk

ROUNDS = 3
COUNTING = frozenset({"range", "enumerate", "count", "trange", "prange", "islice"})


def execute_for(frame: Frame, node: ir.For) -> None:
    iterable = frame.engine.iterated(frame, node)
    if takes_no_turn(iterable):
        return
    over = what_is_gone_through(frame, node, iterable)
    if over == "loader":
        frame.sign(SignKind.LOADER, node.at)
    turns = turns_of(frame, node.iterable, iterable)
    with frame.inside(RegionKind.LOOP, node.at, over, span_of(node.iterable), turns):
        if carries(node):
            frame.sign(SignKind.CARRIES, node.at)
        detail = next(
            (p.detail for p in alternatives(iterable) if type(p) is KnownObject and p.role == Role.LOADER), None
        )
        if detail is not None:
            frame.sign(SignKind(f"{detail}-loader"), node.at)
        element = members.element_of(frame, iterable)
        if over == "loader" and moves_part(node):
            element = unmoved(element)
        counted = mark_counter(
            frame, node, iterable, ANY_HOST if may_be_key(element) and goes_by_key(node) else element
        )

        def begin() -> bool:
            frame.statement = node.at
            frame.engine.assign(frame, node.target, counted, None)
            return True

        rows = frame.rows
        frame.rows = rows | row_names(iterable, node.target)
        if type(iterable) is Sequence and goes_by_name(iterable, node):
            take_turns(frame, node, iterable)
        else:
            iterate(frame, node, begin)
        note_sums(frame, node)
        frame.rows = rows
    check_trips(frame, node, iterable)
    if frame.environment is not None and node.orelse:
        frame.engine.execute(frame, node.orelse)


def what_is_gone_through(frame: Frame, node: ir.For, iterable: Value) -> str:
    """What is iterated, by its value, or by what the loop's body does with it."""
    over = what_is_iterated(iterable, node.iterable)
    if over in ("", "counter") and chains_parts(node):
        return "parts"
    if over:
        return over
    if steps_each(node):
        return "optimizers"
    if holds_modules(frame, iterable):
        return "parts" if calls_parts(node) else ""
    return "data" if hands_on(node) else ""


MOST_NAMES = 16


def goes_by_name(iterable: Sequence, node: ir.For) -> bool:
    """``for name in ("x", "y"): setattr(self, name, getattr(self, name).to(device))``."""
    if not iterable.elements or len(iterable.elements) > MOST_NAMES:
        return False
    return all(map(is_named, iterable.elements)) and sets_by_name(node)


def is_named(element: Value) -> bool:
    """A text, or what has one as its key."""
    first = element.elements[0] if type(element) is Sequence and element.elements else element
    return type(first) is Host and type(first.constant) is str


@functools.lru_cache(maxsize=8192)
def sets_by_name(node: ir.For) -> bool:
    if any(called_name(call) in ("setattr", "getattr") for call in calls_in(node.body)):
        return True
    names = targets_of(node)
    return any(
        type(part) is ir.Subscript and type(part.index) is ir.Name and part.index.name in names
        for statement in node.body
        if type(statement) is ir.Assign
        for part in statement.targets
    )


def take_turns(frame: Frame, node: ir.For, iterable: Sequence) -> None:
    """The body once for each of a few names, one after the other."""
    outer_breaks, outer_continues = frame.breaks, frame.continues
    breaks: list[Environment] = []
    frame.breaks = breaks
    after: Environment | None = frame.env
    for element in iterable.elements or ():
        if after is None:
            break
        frame.continues, frame.environment = [], after
        frame.statement = node.at
        frame.engine.assign(frame, node.target, element, None)
        frame.engine.execute(frame, node.body)
        after = frame.end()
        for environment in frame.continues:
            after = join_environments(after, environment)
    for environment in breaks:
        after = join_environments(after, environment)
    frame.breaks, frame.continues = outer_breaks, outer_continues
    frame.environment = after


def holds_modules(frame: Frame, iterable: Value) -> bool:
    """A model's parts, or several models beside what they work on: one turn is a part of a step."""
    if type(iterable) is Sequence:
        held = iterable.element
        parts = held.elements if type(held) is Sequence and held.elements is not None else (held,)
        return any(is_module(frame, part) for value in parts for part in alternatives(value))
    return type(iterable) is Module


def is_module(frame: Frame, value: Value) -> bool:
    if isinstance(value, (Instance, Struct)):
        return members.is_module_class(frame, value.ir)
    return type(value) is Module


def row_names(iterable: Value, target: ir.Expr) -> frozenset[str]:
    """The target of a loop over the rows of a tensor, or over a list of tensors."""
    held = iterable.element if type(iterable) is Sequence else iterable
    if type(held) is not Tensor or type(target) is not ir.Name:
        return frozenset()
    return frozenset({target.name})


def what_is_iterated(iterable: Value, node: ir.Expr) -> str:
    counted = counts_tensor(iterable, node)
    inner = node.arguments[0] if type(node) is ir.Call and called_name(node) == "enumerate" and node.arguments else node
    if goes_through_settings(iterable, inner):
        return "settings"
    if type(inner) is ir.Call and called_name(inner) in ("range", "trange", "count"):
        return "counter"
    for part in alternatives(iterable):
        if type(part) is KnownObject and part.role == Role.LOADER:
            return "loader"
        if type(part) is Host and part.type == "range":
            return "counter"
        if type(part) is KnownObject and part.role == Role.PARAMETERS:
            return "parameters"
    return "tensor" if counted or is_row(iterable) else ""


def goes_through_settings(iterable: Value, node: ir.Expr) -> bool:
    """``for dtype in ("float32", "bfloat16")``, ``for tp, size in product(degrees, sizes)``, and a table of such."""
    if type(node) is ir.Display:
        return tells_no_device(iterable)
    if type(node) is ir.Call:
        return called_name(node) == "product"
    if type(iterable) is not Sequence or not iterable.elements:
        return False
    return all(type(part) is Host and part.type in SETTING_TYPES for part in iterable.elements)


SETTING_TYPES = frozenset({"str", "dtype", "device", "bool", "none"})


def is_row(value: Value) -> bool:
    """A tensor whose elements are numbers, such as timesteps."""
    return type(value) is Tensor and value.rank in (None, 1)


def counts_tensor(iterable: Value, node: ir.Expr) -> bool:
    """``enumerate(timesteps)``: one after the other."""
    if type(node) is not ir.Call or called_name(node) != "enumerate" or type(iterable) is not Sequence:
        return False
    element = iterable.element
    if type(element) is not Sequence or element.elements is None:
        return False
    last = element.elements[-1]
    return type(last) is Tensor and last.rank in (None, 0)


def may_be_key(element: Value) -> bool:
    return (
        element is UNKNOWN or (type(element) is Tensor and element.certainty < DECLARED) or type(element) is KnownObject
    )


@functools.lru_cache(maxsize=8192)
def goes_by_key(node: ir.For) -> bool:
    """``for key in images: show(images[key])``: what looks like a batch of rows is a mapping."""
    if type(node.target) is not ir.Name or type(node.iterable) is not ir.Name:
        return False
    names = (node.iterable.name, node.target.name)
    return any(
        type(part) is ir.Subscript
        and type(part.value) is ir.Name
        and type(part.index) is ir.Name
        and (part.value.name, part.index.name) == names
        for part in walk(node.body)
    )


def mark_counter(frame: Frame, node: ir.For, iterable: Value, element: Value) -> Value:
    """A loop's own number changes with each iteration."""
    marked = counted(frame, node.iterable, element)
    if marked is element and type(element) is Sequence and element.elements and is_numbered(iterable, element):
        return sequence(element.kind, (host("int", varies=frame.loop_key()), *element.elements[1:]))
    return marked


def counted(frame: Frame, iterable: ir.Expr, element: Value) -> Value:
    """The element of what is iterated, with the numbers that ``range``, ``enumerate`` and their kin put into it marked,
    however they are wrapped: ``zip(loader, range(n))``, ``enumerate(range(0, n, k))``."""
    if type(iterable) is not ir.Call:
        return element
    name, parts = called_name(iterable), element.elements if type(element) is Sequence else None
    if name not in COUNTING and not (name == "zip" and parts is not None and len(parts) == len(iterable.arguments)):
        return counted(frame, iterable.arguments[0], element) if iterable.arguments and name != "zip" else element
    if type(element) is Host and element.type == "int":
        return host("int", varies=frame.loop_key())
    if type(element) is not Sequence or not parts:
        return element
    if name == "zip":
        marked = [counted(frame, part, value) for part, value in zip(iterable.arguments, parts, strict=True)]
    elif type(parts[0]) is Host:
        inner = iterable.arguments[0] if name == "enumerate" and iterable.arguments else None
        rest = [counted(frame, inner, value) for value in parts[1:]] if inner is not None else parts[1:]
        marked = [host("int", varies=frame.loop_key()), *rest]
    else:
        return element
    return sequence(element.kind, marked)


def is_numbered(iterable: Value, element: Sequence) -> bool:
    """``progress(enumerate(loader))``: a pair of a number and a batch."""
    is_loader = type(iterable) is KnownObject and iterable.role == Role.LOADER
    return is_loader and bool(element.elements) and element.elements is not None and element.elements[0] is INT


def execute_while(frame: Frame, node: ir.While) -> None:
    def begin() -> bool:
        frame.statement = node.at
        outcome = conditions.test(frame, node.test, Effect.LOOP_TEST, "while")
        if outcome is False:
            return False
        conditions.narrow(frame, node.test, True)
        return True

    with frame.inside(RegionKind.WHILE, node.at, "settings" if multiplies(node) else "", span_of(node.test)):
        if leaves_something(node):
            frame.sign(SignKind.KEEPS, node.at)
        iterate(frame, node, begin)
    if type(node.test) is ir.Constant and node.test.value and not has_break(node.body):
        frame.environment = None
        return
    if frame.environment is not None and node.orelse:
        frame.engine.execute(frame, node.orelse)


@functools.lru_cache(maxsize=8192)
def multiplies(node: ir.While) -> bool:
    """``while degree <= 8: …; degree *= 2``: no steps are counted so."""
    if type(node.test) is not ir.Compare:
        return False
    asked = {path_of(side) for side in (node.test.left, *node.test.rights)} - {None}
    return any(
        type(statement) is ir.Augmented
        and statement.operator in ("mult", "lshift", "pow")
        and type(statement.value) is ir.Constant
        and type(statement.value.value) is int
        and path_of(statement.target) in asked
        for statement in node.body
    )


def has_break(block: ir.Block) -> bool:
    for statement in block:
        if type(statement) is ir.Break:
            return True
        if type(statement) is ir.If and (has_break(statement.body) or has_break(statement.orelse)):
            return True
        if type(statement) is ir.With and has_break(statement.body):
            return True
        if type(statement) is ir.Try and (
            has_break(statement.body) or any(has_break(block) for _, block in statement.handlers)
        ):
            return True
    return False


def iterate(frame: Frame, loop: ir.For | ir.While, begin: Callable[[], bool]) -> None:
    """The loop's rounds; afterwards the environment is that after the loop."""
    body = loop.body
    forgotten = forget_first_values(frame, loop)
    outer_breaks, outer_continues, tests = frame.breaks, frame.continues, frame.tests
    breaks: list[Environment] = []
    frame.breaks = breaks
    frame.tests = ()
    start: Environment = frame.env
    after: Environment | None = start
    for _ in range(ROUNDS):
        frame.continues = []
        frame.environment = start.copy()
        if not begin():
            break
        frame.engine.execute(frame, body)
        end: Environment | None = frame.end()
        for environment in frame.continues:
            end = join_environments(end, environment)
        merged = join_environments(start, end)
        if forgotten and merged is not None:
            remember_starts(merged, forgotten)
        after = merged
        if end is None or merged is None or merged.says_all_of(start):
            break
        start = merged
    for environment in breaks:
        after = join_environments(after, environment)
    frame.breaks, frame.continues, frame.tests = outer_breaks, outer_continues, tests
    frame.environment = after.copy() if after is not None else None
