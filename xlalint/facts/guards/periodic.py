"""Periodic tests: ``step % k == 0``, by its text, by a name that holds it, or by a predicate of the program."""

from __future__ import annotations

import functools

import msgspec

from xlalint.facts.domain.values import Class, Function, Instance, Struct
from xlalint.facts.guards.moving_bounds import moves_bound
from xlalint.facts.guards.turns import compared, is_last, is_turn
from xlalint.facts.state.frame import Frame
from xlalint.program import ir
from xlalint.program.link import Program
from xlalint.program.traversal import blocks_of, decorator_names, path_of

DEPTH_OF_PREDICATES = 3
TESTS = frozenset({ir.Unary, ir.Boolean, ir.Compare, ir.Binary, ir.Call})
PROPERTIES = frozenset({"property", "cached_property"})


class Scope(msgspec.Struct, frozen=True):
    """What is known where a test stands: the paths that hold what is true now and then; ``frame`` where values are
    known, None in a predicate, which is read by its text."""

    program: Program
    function: ir.FunctionIR
    periodic: frozenset[str]
    frame: Frame | None = None
    depth: int = DEPTH_OF_PREDICATES


def remember(frame: Frame, target: ir.Expr, value: ir.Expr) -> None:
    """``should_log = step % k == 0``."""
    periodic = frame.env.periodic
    if not periodic and (type(value) not in TESTS or (type(value) is ir.Call and not frame.record_callee(value))):
        return
    path = path_of(target)
    if path is None:
        return
    if has_turns(frame, value, True):
        frame.env.periodic = periodic | {path}
    elif path in periodic:
        frame.env.periodic = periodic - {path}


def has_turns(frame: Frame, test: ir.Expr, outcome: bool) -> bool:
    """Whether a test has this outcome only every k-th time, where it stands."""
    periodic = frame.env.periodic
    if not periodic and not tells_turns(test):
        return False
    return is_periodic(test, outcome, Scope(frame.engine.program, frame.function, periodic, frame))


@functools.lru_cache(maxsize=8192)
def tells_turns(test: ir.Expr) -> bool:
    """Whether a test may have an outcome only every k-th time where no path holds such an answer: it asks for a
    remainder, whether something is among others, or a function or property."""
    if type(test) is ir.Unary:
        return tells_turns(test.operand)
    if type(test) is ir.Boolean:
        return any(map(tells_turns, test.values))
    if type(test) is ir.Compare:
        return "in" in test.operators or any(type(side) is ir.Binary for side in (test.left, *test.rights))
    return type(test) in (ir.Attribute, ir.Call, ir.Binary)


def is_periodic(test: ir.Expr, outcome: bool, scope: Scope) -> bool:
    """Whether the test has this outcome only every k-th time."""
    if type(test) is ir.Name or type(test) is ir.Attribute:
        if outcome and scope.periodic and path_of(test) in scope.periodic:
            return True
        return type(test) is ir.Attribute and is_predicate(asked_property(test, scope), outcome, scope)
    if type(test) is ir.Call:
        if scope.frame is not None and not scope.frame.record_callee(test):
            return False
        return is_predicate(called_function(test, scope), outcome, scope)
    if type(test) is ir.Unary and test.operator == "not":
        if type(test.operand) is ir.Binary and test.operand.operator == "mod":
            return outcome and is_period(test.operand)
        return is_periodic(test.operand, not outcome, scope)
    if type(test) is ir.Boolean:
        return is_periodic_as_a_whole(test, outcome, scope)
    if type(test) is ir.Compare:
        return compares_period(test, outcome, scope)
    if type(test) is ir.Binary and test.operator == "mod":
        return not outcome and is_period(test)
    return False


def is_periodic_as_a_whole(test: ir.Boolean, outcome: bool, scope: Scope) -> bool:
    """One part of what must hold together, or of what may hold instead: what else lets an arm run is an exception,
    but for what may as well hold always."""
    found = any(is_periodic(value, outcome, scope) for value in test.values)
    if (test.operator == "and") == outcome or not found:
        return found
    return outcome and all(
        is_periodic(value, True, scope) or is_last(value) or is_exception(value) for value in test.values
    )


def is_exception(test: ir.Expr) -> bool:
    """``cancelled``, ``args.every == 1``, ``loss.isnan()``; what is the rule in training is none."""
    if type(test) is ir.Boolean:
        several = any if test.operator == "and" else all
        return several(map(is_exception, test.values))
    if isinstance(test, (ir.Name, ir.Attribute)):
        return test.name != "training"
    return type(test) is ir.Call or (type(test) is ir.Compare and test.operators in (("eq",), ("is",)))


def compares_period(test: ir.Compare, outcome: bool, scope: Scope) -> bool:
    sides = compared(test)
    if sides is None:
        return False
    left, operator, right = sides
    if type(right) is ir.Binary and right.operator == "mod" and operator in ("eq", "ne"):
        left, right = right, left
    if type(left) is ir.Binary and left.operator == "mod" and is_period(left):
        return (
            (operator == "eq") == outcome
            if operator in ("eq", "ne")
            else type(right) is ir.Constant and (operator, right.value, outcome) in ZERO
        )
    return (
        outcome
        and operator == "in"
        and scope.frame is not None
        and type(right) is not ir.Call
        and is_turn(scope.frame, left)
    )


ZERO = frozenset({("lt", 1, True), ("le", 0, True), ("gt", 0, False), ("ge", 1, False)})
"""The ways to ask whether a remainder is none."""


def is_period(node: ir.Binary) -> bool:
    """``i % k``: k not 1, and no string formatting."""
    if type(node.left) is ir.Constant and isinstance(node.left.value, str):
        return False
    return not (type(node.right) is ir.Constant and node.right.value in (0, 1))


# Predicates


def called_function(call: ir.Call, scope: Scope) -> ir.FunctionIR | None:
    """The function of the program that a test calls."""
    callee = call.function
    if type(callee) is ir.Attribute:
        cls = class_of(callee.value, scope)
        if cls is not None:
            return scope.program.method(cls, callee.name)
    elif type(callee) is not ir.Name:
        return None
    value = scope.frame.env.get(callee.name) if scope.frame is not None and type(callee) is ir.Name else None
    if type(value) is Function:
        return value.ir
    return function_named(scope.program, callee, scope.function.module)


@functools.lru_cache(maxsize=8192)
def function_named(program: Program, callee: ir.Expr, path: str) -> ir.FunctionIR | None:
    symbol = program.expression_symbol(callee, path)
    return symbol if isinstance(symbol, ir.FunctionIR) else None


def asked_property(node: ir.Attribute, scope: Scope) -> ir.FunctionIR | None:
    cls = class_of(node.value, scope)
    method = scope.program.method(cls, node.name) if cls is not None else None
    return method if method is not None and not decorator_names(method).isdisjoint(PROPERTIES) else None


def class_of(node: ir.Expr, scope: Scope) -> ir.ClassIR | None:
    """The class of the program of ``self``, of what a name holds, and of what an attribute of ``self`` was made as."""
    path = path_of(node)
    if path is None:
        return None
    if path == "self":
        return scope.program.owner(scope.function)
    frame = scope.frame
    if frame is None:
        return None
    value = frame.env.get(path)
    if value is None and path.startswith("self.") and (owner := scope.program.owner(scope.function)) is not None:
        value = frame.engine.attribute_value(frame, owner, path.removeprefix("self."))
    return value.ir if isinstance(value, (Instance, Struct, Class)) else None


def is_predicate(function: ir.FunctionIR | None, outcome: bool, scope: Scope) -> bool:
    if function is None or scope.depth == 0 or function.is_generator:
        return False
    return answers_periodically(scope.program, function, outcome, scope.depth - 1)


@functools.lru_cache(maxsize=8192)
def answers_periodically(program: Program, function: ir.FunctionIR, outcome: bool, depth: int) -> bool:
    """Whether a function gives this answer only every k-th time that it is asked."""
    reading = Reading(Scope(program, function, frozenset(), None, depth), outcome)
    ends = reading.read(function.body, False)
    return reading.is_periodic and (ends or outcome)


class Reading:
    """A function that is read for how often it gives an answer."""

    def __init__(self, scope: Scope, outcome: bool) -> None:
        self.scope = scope
        self.outcome = outcome
        self.found = False
        self.always = False

    @property
    def is_periodic(self) -> bool:
        return self.found and not self.always

    def read(self, block: ir.Block, seldom: bool) -> bool:
        """Follows the ways through a block, which is itself run seldom or not; gives whether it returns on all."""
        for statement in block:
            if type(statement) is ir.Return:
                self.answer(statement.value, seldom)
                return True
            if type(statement) is ir.Raise:
                return True
            if type(statement) is ir.If:
                yes, no = self.rates(statement)
                if self.read_arms(statement, seldom or yes, seldom or no):
                    return True
                seldom = seldom or (no and returns(statement.body)) or (yes and returns(statement.orelse))
            elif type(statement) is ir.Assign:
                self.bind(statement.targets[0], statement.value, seldom)
            else:
                for inner in blocks_of(statement):
                    if self.read(inner, seldom) and type(statement) is ir.With:
                        return True
        return False

    def rates(self, node: ir.If) -> tuple[bool, bool]:
        """Whether each of the arms runs now and then."""
        moves = moves_bound(self.scope.function, node)
        return moves or is_periodic(node.test, True, self.scope), is_periodic(node.test, False, self.scope)

    def read_arms(self, node: ir.If, yes: bool, no: bool) -> bool:
        before = self.scope
        ends = self.read(node.body, yes)
        after = self.scope.periodic
        self.scope = before
        other = self.read(node.orelse, no)
        kept = after if other else self.scope.periodic if ends else after & self.scope.periodic
        self.scope = msgspec.structs.replace(before, periodic=kept)
        return ends and other

    def bind(self, target: ir.Expr, value: ir.Expr, seldom: bool) -> None:
        path = path_of(target)
        if path is None:
            return
        known = self.scope.periodic
        holds = seldom or is_false(value) or is_periodic(value, True, self.scope)
        self.scope = msgspec.structs.replace(self.scope, periodic=known | {path} if holds else known - {path})

    def answer(self, value: ir.Expr | None, seldom: bool) -> None:
        if value is None or is_false(value) or type(value) is ir.Constant:
            told = value is not None and type(value) is ir.Constant and bool(value.value)
            if told is not self.outcome:
                return
            self.found, self.always = self.found or seldom, self.always or not seldom
        elif seldom or is_periodic(value, self.outcome, self.scope):
            self.found = True
        else:
            self.always = True


def is_false(value: ir.Expr) -> bool:
    return type(value) is ir.Constant and not value.value


def returns(block: ir.Block) -> bool:
    return bool(block) and type(block[-1]) in (ir.Return, ir.Raise)
