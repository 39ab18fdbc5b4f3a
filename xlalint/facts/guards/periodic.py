"""Guards that change how often a branch runs: ``step % k == 0``, the first step, the main process."""

from __future__ import annotations

from functools import cache

import msgspec

from xlalint.facts.domain.values import Host
from xlalint.facts.guards.one_time import one_time_rate
from xlalint.facts.kinds import RegionKind
from xlalint.facts.state.frame import Frame
from xlalint.program import ir
from xlalint.program.traversal import last_name, path_of, plain_callee


class BranchRates(msgspec.Struct, frozen=True):
    """Region kinds of the two arms of an ``if``; None where the arm runs as often as the test."""

    body: RegionKind | None = None
    orelse: RegionKind | None = None
    at_times: bool = False
    """The test holds now and then, even where an evaluation happens to know the step."""


def branch_rates(frame: Frame, node: ir.If) -> BranchRates:
    pace = rates_of_test(frame, node)
    if pace.body or pace.orelse:
        return pace
    body = one_time_rate(frame, node.test, True, node.body)
    orelse = one_time_rate(frame, node.test, False, node.orelse) if node.orelse else None
    return BranchRates(body, orelse) if body or orelse else pace


def rates_of_test(frame: Frame, node: ir.If) -> BranchRates:
    if is_limited(frame, node):
        return BranchRates(RegionKind.AMORTISED, None, True)
    if frame.remembers or compares_equal(node.test) or calls_plainly(node.test):
        return rates_in(frame, node)
    return rates_by_text(node)


def compares_equal(test: ir.Expr) -> bool:
    """The kind of test for which it matters what the compared name holds."""
    if type(test) is ir.Boolean:
        return any(compares_equal(value) for value in test.values)
    return type(test) is ir.Compare and test.operators == ("eq",)


def is_limited(frame: Frame, node: ir.If) -> bool:
    """``if shown < 5: …; shown += 1``: so many times and no more, where no loop around starts to count anew."""
    if not frame.loops:
        return False
    tests = node.test.values if type(node.test) is ir.Boolean and node.test.operator == "and" else (node.test,)
    counted = {path_of(test.left) for test in tests if type(test) is ir.Compare and test.operators in LESS} - {None}
    raised = {path_of(statement.target) for statement in node.body if type(statement) is ir.Augmented}
    if counted.isdisjoint(raised):
        return False
    first, here = frame.outermost_loop(), ir.unpack(node.at)[0]
    return any(not first < frame.bound_on(path) < here for path in counted & raised if path)


LESS = (("lt",), ("le",))


def calls_plainly(test: ir.Expr) -> bool:
    """``divisible_by(step, k)``: what it means, a function of the program may tell."""
    if type(test) is ir.Boolean:
        return any(calls_plainly(value) for value in test.values)
    if type(test) is ir.Unary:
        return calls_plainly(test.operand)
    return type(test) is ir.Call and type(test.function) is ir.Name and len(test.arguments) == 2


@cache
def rates_by_text(node: ir.If) -> BranchRates:
    return rates_in(None, node)


def rates_in(frame: Frame | None, node: ir.If) -> BranchRates:
    """``frame`` may be None where nothing is known of any name that bears on the pace."""
    if is_periodic(node.test, True, frame):
        return BranchRates(RegionKind.AMORTISED, None, True)
    if is_periodic(node.test, False, frame):
        return BranchRates(None, RegionKind.AMORTISED, True)
    if is_first(frame, node.test):
        return BranchRates(RegionKind.RARE, None, True)
    if is_interval_flag(node.test) or starts_again(node):
        return BranchRates(RegionKind.AMORTISED, None, True)
    return BranchRates(leaving(node.body), leaving(node.orelse))


def starts_again(node: ir.If) -> bool:
    """``if len(rows) == k: …; rows.clear()``, ``if count >= k: …; count = 0``: what is counted is emptied again."""
    test = node.test
    if type(test) is not ir.Compare or test.operators not in (("eq",), ("ge",), ("gt",)):
        return False
    counted = test.left
    if type(counted) is ir.Call and plain_callee(counted) == "len" and len(counted.arguments) == 1:
        counted = counted.arguments[0]
    path = path_of(counted)
    return path is not None and any(empties(statement, path) for statement in node.body)


def empties(statement: ir.Stmt, path: str) -> bool:
    if type(statement) is ir.Evaluate and type(statement.value) is ir.Call:
        function = statement.value.function
        return type(function) is ir.Attribute and function.name == "clear" and path_of(function.value) == path
    if type(statement) is not ir.Assign or path_of(statement.targets[0]) != path:
        return False
    value = statement.value
    return (type(value) is ir.Constant and value.value == 0) or (type(value) is ir.Display and not value.elements)


EXITS = frozenset({"exit", "quit", "_exit", "abort"})


def leaving(block: ir.Block) -> RegionKind | None:
    """An arm that ends the program, or the loop, runs once at most."""
    last = block[-1] if block else None
    if type(last) in (ir.Break, ir.Return):
        return RegionKind.LEAVING
    return RegionKind.RARE if type(last) is ir.Raise or is_exit(last) else None


def is_exit(statement: ir.Stmt | None) -> bool:
    """``sys.exit(1)``, ``exit()``."""
    if type(statement) is not ir.Evaluate or type(statement.value) is not ir.Call:
        return False
    function = statement.value.function
    if type(function) is ir.Attribute:
        return function.name in EXITS and type(function.value) is ir.Name and function.value.name in ("sys", "os")
    return type(function) is ir.Name and function.name in EXITS


TESTS = frozenset({ir.Unary, ir.Boolean, ir.Compare, ir.Binary})


def remember(frame: Frame, target: ir.Expr, value: ir.Expr) -> None:
    """``should_log = step % k == 0``."""
    if not frame.remembers and type(value) not in TESTS:
        return
    path = path_of(target)
    if path is None:
        return
    if is_periodic(value, True, frame):
        frame.remembers = True
        frame.env.periodic |= {path}
    elif path in frame.env.periodic:
        frame.env.periodic -= {path}


def is_periodic(test: ir.Expr, outcome: bool, frame: Frame | None) -> bool:
    """Whether the test has this outcome only every k-th time."""
    if type(test) in (ir.Name, ir.Attribute):
        if frame is None or not outcome or not frame.remembers:
            return False
        path = path_of(test)
        return path is not None and path in frame.env.periodic
    if type(test) is ir.Call:
        meant = returned_by(frame, test) if frame is not None and calls_plainly(test) else None
        return meant is not None and is_periodic(meant, outcome, None)
    if type(test) is ir.Unary and test.operator == "not":
        if type(test.operand) is ir.Binary and test.operand.operator == "mod":
            return outcome and is_period(test.operand)
        return is_periodic(test.operand, not outcome, frame)
    if type(test) is ir.Boolean:
        if outcome and test.operator == "and":
            return any(is_periodic(value, True, frame) for value in test.values)
        if outcome and test.operator == "or":
            return all(is_periodic(value, True, frame) or is_last(value) for value in test.values) and any(
                is_periodic(value, True, frame) for value in test.values
            )
        return False
    if type(test) is ir.Compare and len(test.operators) == 1:
        left, right = test.left, test.rights[0]
        operator = test.operators[0]
        if type(left) is ir.Constant and type(right) is ir.Binary:
            left, right = right, left
        if type(left) is ir.Binary and left.operator == "mod" and is_period(left):
            return (operator == "eq") == outcome if operator in ("eq", "ne") else False
        return False
    if type(test) is ir.Binary and test.operator == "mod":
        return not outcome and is_period(test)
    return False


def returned_by(frame: Frame, call: ir.Call) -> ir.Expr | None:
    """What a called function of the program returns, where that is all it does."""
    meant = frame.engine.program.resolve(frame.path, last_name(call.function))
    if not isinstance(meant, ir.FunctionIR) or len(meant.body) != 1:
        return None
    only = meant.body[0]
    return only.value if type(only) is ir.Return else None


def is_period(node: ir.Binary) -> bool:
    """``i % k``: k not 1, and no string formatting."""
    if type(node.left) is ir.Constant and isinstance(node.left.value, str):
        return False
    return not (type(node.right) is ir.Constant and node.right.value in (0, 1))


def is_last(node: ir.Expr) -> bool:
    """``i == len(loader) - 1``, ``last_batch`` and the like, alone or in the last epoch: once a pass."""
    if type(node) is ir.Boolean and node.operator == "and":
        return any(is_last(part) for part in node.values if type(part) is not ir.Compare or compares_equal(part))
    if isinstance(node, (ir.Name, ir.Attribute)):
        return any(word in node.name.lower() for word in ("last", "final"))
    return type(node) is ir.Compare and node.operators in (("eq",), ("ge",), ("lt",), ("le",))


def is_first(frame: Frame | None, test: ir.Expr) -> bool:
    """``step == 0``, ``i == 10``: once a loop."""
    if type(test) is ir.Boolean:
        several = any if test.operator == "and" else all
        return several(is_first(frame, value) for value in test.values)
    if is_empty_state(test):
        return True
    if type(test) is not ir.Compare or test.operators != ("eq",):
        return False
    left, right = test.left, test.rights[0]
    if type(right) is not ir.Constant or type(right.value) is not int:
        if not (type(left) is ir.Name and is_counter(frame, left.name)):
            return False
        return type(right) in (ir.Binary, ir.Name, ir.Attribute, ir.Call)
    if type(left) is ir.Attribute:
        return left.name == STEPS
    return type(left) is ir.Name and is_counter(frame, left.name)


STEPS = "global_step"
"""An attribute that counts the steps of a training, whoever holds it."""


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


def is_counter(frame: Frame | None, name: str) -> bool:
    value = frame.env.get(name) if frame is not None else None
    return type(value) is Host and value.type == "int" and value.varies is not None


def is_interval_flag(test: ir.Expr) -> bool:
    """A flag whose name says that it holds only now and then."""
    if type(test) is ir.Boolean and test.operator == "and":
        return any(is_interval_flag(value) for value in test.values)
    is_asked = type(test) is ir.Call
    if type(test) is ir.Call:
        test = test.function
    if not isinstance(test, (ir.Name, ir.Attribute)):
        return False
    name = test.name.lower()
    if is_asked and any(word in name for word in ("freq", "interval", "periodic")):
        return True
    return name.startswith(
        ("should_log", "do_log", "log_this", "should_print", "is_log", "time_to_log", "is_last_batch", "last_batch")
    )
