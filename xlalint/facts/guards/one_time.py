"""One-time guards: branches that falsify their own condition, as ``if self.mask is None: self.mask = build(x)``
does."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import TypeAlias

from xlalint.facts.kinds import RegionKind
from xlalint.facts.state.frame import Frame
from xlalint.program import ir
from xlalint.program.def_use import assignments_of
from xlalint.program.traversal import called_name, holders, path_of

Way: TypeAlias = tuple[tuple[str, bool], ...]
MISSING = (None, False)
SHAPES = frozenset({"shape", "device", "dtype", "size", "len"})
RESETTING = (
    "__init__",
    "reset",
    "_reset",
    "clear",
    "_clear",
    "init",
    "_init",
    "set_",
    "load",
    "_load",
    "__setstate__",
)
"""Methods that may take back what was settled: they are called between the steps."""


def one_time_rate(frame: Frame, test: ir.Expr, outcome: bool, block: ir.Block) -> RegionKind | None:
    """The region kind of ``block``, which stands behind this outcome of a test, where it runs only until it has run:
    for an attribute now and then, for a name once each time that the loop around it runs. None elsewhere."""
    if outcome and sets_held_number(frame, test, block):
        return RegionKind.AMORTISED
    for asked in settled_by_text(test, outcome, block):
        if all(is_one_time(frame, path, value, block) for path, value in asked):
            outlives = any("." in path or path in frame.globals for path, _ in asked)
            return RegionKind.AMORTISED if outlives else RegionKind.LEAVING
    return None


def sets_held_number(frame: Frame, test: ir.Expr, block: ir.Block) -> bool:
    """``if scale < 0: self.held[0] = …``, of a number that was read from ``self.held``, or from a tensor that who calls
    keeps and hands in."""
    if type(test) is not ir.Compare or type(test.left) is not ir.Name or type(test.rights[0]) not in NUMBERS:
        return False
    stored = {
        path
        for statement in block
        if type(statement) is ir.Assign
        for target in statement.targets
        if type(target) is ir.Subscript and (path := path_of(target.value)) is not None
    }
    given = {parameter.name for parameter in frame.function.parameters}
    stored = {path for path in stored if is_own(path) or path in given}
    return bool(stored) and any(
        held_path(one.value) in stored
        for one in assignments_of(frame.function).values()
        if any(path_of(target) == test.left.name for target in one.targets)
    )


NUMBERS = (ir.Constant, ir.Unary)


@functools.lru_cache(maxsize=8192)
def settled_by_text(test: ir.Expr, outcome: bool, block: ir.Block) -> tuple[Way, ...]:
    """Those of the ways that the text of the block does not rule out."""
    return tuple(
        way
        for way in questions(test, outcome)
        if all(any(may_set_by_text(statement, path, value) for statement in block) for path, value in way)
    )


@functools.lru_cache(maxsize=8192)
def questions(test: ir.Expr, outcome: bool) -> tuple[Way, ...]:
    """Ways in which the test can have this outcome no more: each names what would have to be settled, and whether it
    is so by being true."""
    if type(test) is ir.Unary and test.operator == "not":
        return questions(test.operand, not outcome)
    if type(test) is ir.Boolean:
        parts = [questions(value, outcome) for value in test.values]
        if (test.operator == "and") == outcome:
            return tuple(way for ways in parts for way in ways)
        return (tuple(one for ways in parts for one in ways[0]),) if all(parts) else ()
    asked = flag(test, outcome)
    return () if asked is None else ((asked,),)


def flag(test: ir.Expr, outcome: bool) -> tuple[str, bool] | None:
    """``ready``, ``self.mask is None``, ``hasattr(self, "mask")``."""
    if type(test) in (ir.Name, ir.Attribute):
        return question(test, not outcome)
    if type(test) is ir.Call and type(test.function) is ir.Name and test.function.name == "hasattr":
        holder, name = (*test.arguments, None, None)[:2]
        if outcome or type(holder) is not ir.Name or holder.name != "self" or type(name) is not ir.Constant:
            return None
        return f"self.{name.value}", True
    if type(test) is not ir.Compare or len(test.operators) != 1:
        return None
    if type(test.rights[0]) is not ir.Constant:
        return outgrown(test) if outcome else None
    operator, value = test.operators[0], test.rights[0].value
    if operator not in ("is", "eq", "is-not", "ne") or not (value is None or type(value) is bool):
        return None
    is_that = (operator in ("is", "eq")) == outcome
    return question(test.left, bool(value) != is_that) if value is not None or is_that else None


def outgrown(test: ir.Compare) -> tuple[str, bool] | None:
    """``length > self.longest``, ``self.mask.device != x.device``, ``self.size != x.shape``: what was made for other
    sizes is made anew."""
    operator = test.operators[0]
    for held, given in ((test.left, test.rights[0]), (test.rights[0], test.left)):
        path = held_path(held)
        grows = operator in ("gt", "lt", "ge", "le") and type(given) is ir.Name
        if path is not None and is_own(path) and (grows or (operator in ("ne", "gt", "lt") and is_of_shape(given))):
            return path, True
    return None


def held_path(node: ir.Expr) -> str | None:
    """``self.mask`` in ``self.mask.shape[-1]`` and in ``self.mask.size(0)``."""
    return next(filter(None, map(path_of, holders(node))), None)


def is_of_shape(node: ir.Expr) -> bool:
    if type(node) is ir.Subscript:
        node = node.value
    if type(node) is ir.Call:
        node = node.function
    return isinstance(node, (ir.Attribute, ir.Name)) and node.name in SHAPES


def question(node: ir.Expr, settled_by: bool) -> tuple[str, bool] | None:
    path = dotted_path(node)
    return None if path is None else (path, settled_by)


def dotted_path(node: ir.Expr) -> str | None:
    """``state.warm``: the path of an attribute, whatever object holds it."""
    if type(node) is not ir.Attribute:
        return path_of(node)
    holder = dotted_path(node.value)
    return None if holder is None else f"{holder}.{node.name}"


def is_own(path: str) -> bool:
    return path.startswith("self.")


def is_one_time(frame: Frame, path: str, value: bool, block: ir.Block) -> bool:
    if not any(may_set(frame, statement, path, value) for statement in block):
        return False
    if is_own(path):
        return path not in frame.origins and not taken_back(frame, path.removeprefix("self."))
    loop = frame.loop_key()
    if "." in path or path in frame.globals:
        return not bound_elsewhere(frame, path, block, 0)
    return loop is not None and not bound_elsewhere(frame, path, block, loop[2])


def may_set(frame: Frame, statement: ir.Stmt, path: str, value: bool) -> bool:
    """Whether a statement gives something a value that is true, or false; a call of a method may, too."""
    if assigns(statement, path):
        return gives(statement, value)
    call = call_on_self(statement) if value and is_own(path) else None
    if call is None:
        return False
    name, method = path.removeprefix("self."), called_name(call)
    if method == "register_buffer":
        first = call.arguments[0] if call.arguments else None
        return type(first) is ir.Constant and first.value == name
    return any(method in cls.assigned_in.get(name, ()) for cls in classes(frame))


def may_set_by_text(statement: ir.Stmt, path: str, value: bool) -> bool:
    """The same, where it is not known which methods there are."""
    if assigns(statement, path):
        return gives(statement, value)
    return value and is_own(path) and call_on_self(statement) is not None


def assigns(statement: ir.Stmt, path: str) -> bool:
    return type(statement) is ir.Assign and any(dotted_path(target) == path for target in statement.targets)


def gives(statement: ir.Stmt, value: bool) -> bool:
    """Whether an assignment gives what is true, or false; what is no constant is taken for true."""
    given = getattr(statement, "value", None)
    return bool(given.value) == value if type(given) is ir.Constant else value


def call_on_self(statement: ir.Stmt) -> ir.Call | None:
    """``self.build()``, ``x = self.build()``."""
    call = getattr(statement, "value", None)
    if type(call) is not ir.Call or type(call.function) is not ir.Attribute:
        return None
    holder = call.function.value
    return call if type(holder) is ir.Name and holder.name == "self" else None


def classes(frame: Frame) -> Iterator[ir.ClassIR]:
    program = frame.engine.program
    owner = program.owner(frame.function)
    if owner is not None:
        yield from (base for base in program.mro(owner) if isinstance(base, ir.ClassIR))


def taken_back(frame: Frame, name: str) -> bool:
    """Whether another method, which isn't there to set things up, always sets the attribute to None or False."""
    for cls in classes(frame):
        for method in cls.assigned_in.get(name, ()):
            function = cls.methods.get(method)
            if function is None or function is frame.function or method.startswith(RESETTING):
                continue
            if any(is_reset(statement, f"self.{name}") for statement in function.body):
                return True
    return False


def is_reset(statement: ir.Stmt, path: str) -> bool:
    if type(statement) is not ir.Assign or type(statement.value) is not ir.Constant:
        return False
    return statement.value.value in MISSING and any(path_of(target) == path for target in statement.targets)


def bound_elsewhere(frame: Frame, name: str, block: ir.Block, first: int) -> bool:
    """Whether the loop that begins in line ``first`` binds a name outside of the block, too."""
    start, end = ir.unpack(block[0].at)[0], ir.unpack(block[-1].at)[2]
    lines = (
        ir.unpack(assignment.at)[0]
        for assignment in assignments_of(frame.function).values()
        if any(dotted_path(target) == name for target in assignment.targets)
    )
    return any(line > first and not start <= line <= end for line in lines)
