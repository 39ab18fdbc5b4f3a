"""Turns of a loop: its counters, and the tests for its first and last turns."""

from __future__ import annotations

import functools

from xlalint.facts.domain.values import RANK, Host
from xlalint.facts.kinds import RegionKind
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.tables import frameworks
from xlalint.program import ir
from xlalint.program.link import Program
from xlalint.program.traversal import blocks_of, path_of

FEW_TURNS = 16
MIRRORED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}


def compared(test: ir.Expr) -> tuple[ir.Expr, str, ir.Expr] | None:
    """The sides and the operator of a comparison, what is no constant on the left."""
    if type(test) is not ir.Compare or len(test.operators) != 1:
        return None
    left, operator, right = test.left, test.operators[0], test.rights[0]
    if type(left) is ir.Constant and operator in MIRRORED:
        return right, MIRRORED[operator], left
    return left, operator, right


def is_last(node: ir.Expr) -> bool:
    """``i == len(loader) - 1``, ``last_batch`` and the like, alone or in the last epoch: once a pass."""
    if type(node) is ir.Boolean and node.operator == "and":
        return any(is_last(part) for part in node.values if type(part) is not ir.Compare or asks_for_equal(part))
    if isinstance(node, (ir.Name, ir.Attribute)):
        return any(word in node.name.lower() for word in ("last", "final"))
    return type(node) is ir.Compare and node.operators in (("eq",), ("ge",), ("lt",), ("le",))


def asks_for_equal(test: ir.Expr) -> bool:
    if type(test) is ir.Boolean:
        return any(asks_for_equal(value) for value in test.values)
    return type(test) is ir.Compare and test.operators == ("eq",)


def first_turns(frame: Frame, test: ir.Expr) -> RegionKind | None:
    """The region kind of an arm behind ``step == 0``, ``i == first``, ``i < 3``, ``not i``: once each time that the
    innermost loop runs, if that is what it counts. None behind other tests."""
    if type(test) is ir.Boolean:
        found = [first_turns(frame, value) for value in test.values]
        known = [kind for kind in found if kind is not None]
        return known[0] if len(known) >= (1 if test.operator == "and" else len(found)) else None
    if type(test) is not ir.Unary and type(test) is not ir.Compare:
        return None
    if is_empty_state(test):
        return RegionKind.RARE
    counter = asked_for_first(frame, test)
    if counter is None:
        return None
    path = path_of(counter)
    value = frame.env.get(path) if path is not None else None
    is_own = type(value) is Host and value.varies is not None and value.varies == frame.loop_key()
    return RegionKind.LEAVING if is_own else RegionKind.RARE


def asked_for_first(frame: Frame, test: ir.Expr) -> ir.Expr | None:
    """The counter that a test asks for its first numbers, or for one of them."""
    if type(test) is ir.Unary and test.operator == "not":
        return test.operand if is_counter(frame, test.operand) else None
    sides = compared(test)
    if sides is None:
        return None
    left, operator, right = sides
    if type(right) is ir.Constant:
        return left if asks_for_few(frame, left, operator, right.value) and is_turn(frame, left) else None
    if operator != "eq":
        return None
    return next((one for one, other in ((left, right), (right, left)) if equal_to_turn(frame, one, other)), None)


def asks_for_few(frame: Frame, counter: ir.Expr, operator: str, number: object) -> bool:
    if type(number) is not int:
        return False
    few = operator in ("lt", "le") and number <= FEW_TURNS
    return operator == "eq" or (few and counts_each_turn(frame.function, path_of(counter)))


@functools.lru_cache(maxsize=8192)
def counts_each_turn(function: ir.FunctionIR, path: str | None) -> bool:
    """Whether no arm of a test decides that a counter goes on."""
    return path is None or not counts_in_arms(function.body, path)


def counts_in_arms(block: ir.Block, path: str) -> bool:
    return any(
        counts(inner, path) if type(statement) is ir.If else counts_in_arms(inner, path)
        for statement in block
        for inner in blocks_of(statement)
    )


def equal_to_turn(frame: Frame, counter: ir.Expr, other: ir.Expr) -> bool:
    return type(other) in (ir.Binary, ir.Name, ir.Attribute, ir.Call) and is_turn(frame, counter)


def is_turn(frame: Frame, node: ir.Expr) -> bool:
    """A counter, or an attribute of that name."""
    named = type(node) is ir.Attribute and node.name in frameworks().names("step-counter")
    return named or is_counter(frame, node)


def is_counter(frame: Frame, node: ir.Expr) -> bool:
    """A number that a loop around changes, or that a method of the class or the function for all others counts."""
    path = path_of(node)
    value = frame.env.get(path) if path is not None else None
    if type(value) is Host and value.type == "int" and value.varies not in (None, RANK):
        return True
    if path is None:
        return False
    return is_counted(frame, path) if path.startswith("self.") else is_counted_globally(frame, path)


def is_counted(frame: Frame, path: str) -> bool:
    program = frame.engine.program
    owner = program.owner(frame.function)
    return owner is not None and is_counted_in(program, owner, path)


def is_counted_globally(frame: Frame, name: str) -> bool:
    """``global updates``, ``updates += 1``: the turns of all calls of this function."""
    return name in frame.globals and function_counts(frame.function, name)


@functools.lru_cache(maxsize=8192)
def function_counts(function: ir.FunctionIR, path: str) -> bool:
    return counts(function.body, path)


@functools.lru_cache(maxsize=8192)
def is_counted_in(program: Program, owner: ir.ClassIR, path: str) -> bool:
    """Whether a method of the class adds one to the attribute."""
    return any(
        counts(method.body, path)
        for cls in program.mro(owner)
        if isinstance(cls, ir.ClassIR)
        for name in cls.assigned_in.get(path.removeprefix("self."), ())
        if (method := cls.methods.get(name)) is not None
    )


def counts(block: ir.Block, path: str) -> bool:
    for statement in block:
        if type(statement) is ir.Augmented:
            by_one = type(statement.value) is ir.Constant and statement.value.value == 1
            if by_one and statement.operator == "add" and path_of(statement.target) == path:
                return True
        elif any(counts(inner, path) for inner in blocks_of(statement)):
            return True
    return False


def is_empty_state(test: ir.Expr) -> bool:
    """``len(state) == 0``, ``not state``, ``"step" not in state``: what a parameter's first step sets up."""
    if type(test) is ir.Unary and test.operator == "not":
        return is_state(test.operand)
    if type(test) is not ir.Compare or len(test.operators) != 1:
        return False
    if test.operators == ("not-in",):
        return is_state(test.rights[0])
    counted = type(test.left) is ir.Call and len(test.left.arguments) == 1 and is_state(test.left.arguments[0])
    return counted and test.operators == ("eq",)


def is_state(node: ir.Expr) -> bool:
    """``state``, ``self.state[p]``."""
    if type(node) is ir.Subscript:
        node = node.value
    return isinstance(node, (ir.Name, ir.Attribute)) and node.name in ("state", "param_state", "p_state")
