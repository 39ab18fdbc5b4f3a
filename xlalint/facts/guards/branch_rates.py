"""Branch rates: how often the arms of an ``if`` run, against its test."""

from __future__ import annotations

import functools

import msgspec

from xlalint.facts.guards.data_tests import arm_is_unusual
from xlalint.facts.guards.gathered_first import arm_of_first_turn
from xlalint.facts.guards.moving_bounds import conjuncts, moves_bound
from xlalint.facts.guards.one_time import classes, one_time_rate
from xlalint.facts.guards.periodic import has_turns
from xlalint.facts.guards.turns import first_turns
from xlalint.facts.kinds import RegionKind
from xlalint.facts.state.frame import Frame
from xlalint.program import ir
from xlalint.program.traversal import last_name, path_of


class BranchRates(msgspec.Struct, frozen=True):
    """Region kinds of the two arms of an ``if``; None where the arm runs as often as the test."""

    body: RegionKind | None = None
    orelse: RegionKind | None = None
    at_times: bool = False
    """The test holds now and then, even where an evaluation happens to know the step."""


NOW_AND_THEN = BranchRates(RegionKind.AMORTISED, None, True)
MOST_TIMES = BranchRates(None, RegionKind.AMORTISED, True)
FIRST_TURN = BranchRates(RegionKind.LEAVING, None, True)
LATER_TURNS = BranchRates(None, RegionKind.LEAVING, True)


def branch_rates(frame: Frame, node: ir.If) -> BranchRates:
    known = rates_of_test(frame, node)
    body = known.body or one_time(frame, node, True, node.body)
    orelse = known.orelse
    if orelse is None and node.orelse:
        orelse = one_time(frame, node, False, node.orelse)
    return known if (body, orelse) == (known.body, known.orelse) else BranchRates(body, orelse, known.at_times)


def rates_by_data(rates: BranchRates, node: ir.If) -> BranchRates:
    """The rates of arms that a tensor's value decides between: what hardly occurs runs now and then."""
    body = rates.body or (RegionKind.AMORTISED if arm_is_unusual(node, True) else None)
    orelse = rates.orelse or (RegionKind.AMORTISED if arm_is_unusual(node, False) else None)
    return BranchRates(body, orelse, rates.at_times)


def rate_of_rest(frame: Frame, node: ir.If, rest: ir.Block) -> RegionKind | None:
    """How often that runs which a test skips."""
    return branch_rates(frame, node).orelse or one_time(frame, node, False, rest)


def one_time(frame: Frame, node: ir.If, outcome: bool, block: ir.Block) -> RegionKind | None:
    if not block:
        return None
    rate = one_time_rate(frame, node.test, outcome, block)
    return settled_above(frame, block) if rate is None and frame.tests else rate


def settled_above(frame: Frame, block: ir.Block) -> RegionKind | None:
    """``if waits: if step < start: continue else: waits = False``: the arm ends what a test around it asks for."""
    for test, outcome in frame.tests:
        rate = one_time_rate(frame, test, outcome, block)
        if rate is not None:
            return rate
    return None


def rates_of_test(frame: Frame, node: ir.If) -> BranchRates:
    text = by_text(node)
    if text.is_plain and not frame.env.periodic:
        return text.rates
    if is_limited(frame, node, text.limits) or has_turns(frame, node.test, True):
        return NOW_AND_THEN
    if has_turns(frame, node.test, False):
        return MOST_TIMES
    first = first_turns(frame, node.test)
    if first is not None:
        return BranchRates(first, None, True)
    gathered = arm_of_first_turn(frame.function, node) if frame.loops else None
    if gathered is not None:
        return FIRST_TURN if gathered else LATER_TURNS
    if (text.is_interval_flag and not is_set_once(frame, node.test)) or moves_bound(frame.function, node):
        return NOW_AND_THEN
    return text.rates


class TextOfIf(msgspec.Struct, frozen=True):
    """What the text of an ``if`` tells, wherever and whenever it is evaluated."""

    rates: BranchRates
    """How often its arms run where its test tells nothing."""
    is_plain: bool
    is_interval_flag: bool
    limits: frozenset[str]
    """The paths that the test holds against a limit and the body raises."""


@functools.lru_cache(maxsize=8192)
def by_text(node: ir.If) -> TextOfIf:
    rates = BranchRates(leaving(node.body), leaving(node.orelse))
    return TextOfIf(rates, is_plain(node.test), is_interval_flag(node.test), limits(node))


def is_plain(test: ir.Expr) -> bool:
    """``mask is not None``, ``isinstance(x, list)``, and several of these: nothing that counts, takes turns or may be
    a predicate of the program."""
    if type(test) is ir.Boolean:
        return all(map(is_plain, test.values))
    if type(test) is ir.Unary:
        return is_plain(test.operand)
    if type(test) is ir.Call:
        return type(test.function) is ir.Name and test.function.name in ASKING
    return type(test) is ir.Compare and test.operators[0] in ("is", "is-not") and type(test.rights[0]) is ir.Constant


ASKING = frozenset({"isinstance", "hasattr", "callable", "issubclass"})


def is_limited(frame: Frame, node: ir.If, limited: frozenset[str]) -> bool:
    """``if shown < 5: …; shown += 1``: so many times and no more, where no loop around starts to count anew."""
    if not limited or not frame.loops:
        return False
    first, here = frame.outermost_loop(), ir.unpack(node.at)[0]
    return any(not first < frame.bound_on(path) < here for path in limited)


def limits(node: ir.If) -> frozenset[str]:
    tests = conjuncts(node.test)
    counted = {path_of(test.left) for test in tests if type(test) is ir.Compare and test.operators in LESS}
    raised = {path_of(statement.target) for statement in node.body if type(statement) is ir.Augmented}
    return frozenset(path for path in counted & raised if path)


LESS = (("lt",), ("le",))

EXITS = frozenset({"exit", "quit", "_exit", "abort"})


def leaving(block: ir.Block) -> RegionKind | None:
    """An arm that ends the program, or the loop, runs once at most."""
    last = block[-1] if block else None
    if type(last) in (ir.Break, ir.Return) or skips_test(last):
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


def skips_test(statement: ir.Stmt | None) -> bool:
    """``pytest.skip("no GPU")``, ``self.skipTest("no GPU")``, ``raise unittest.SkipTest("no GPU")``."""
    if type(statement) is ir.Raise:
        return last_name(statement.value.function if type(statement.value) is ir.Call else statement.value) in SKIPPED
    if type(statement) is not ir.Evaluate or type(statement.value) is not ir.Call:
        return False
    function = statement.value.function
    if type(function) is not ir.Attribute or type(function.value) is not ir.Name:
        return False
    return (function.value.name, function.name) in (("pytest", "skip"), ("self", "skipTest"))


SKIPPED = frozenset({"SkipTest", "Skipped"})


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


def is_set_once(frame: Frame, test: ir.Expr) -> bool:
    """``self.is_log``, which the constructor sets and nothing after it: it holds in each step, or in none."""
    path = path_of(test)
    if path is None or not path.startswith("self."):
        return False
    name = path.removeprefix("self.")
    return {method for cls in classes(frame) for method in cls.assigned_in.get(name, ())} == {"__init__"}
