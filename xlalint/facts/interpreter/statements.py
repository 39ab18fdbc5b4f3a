"""Statements: how they change the environment, and where control goes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xlalint.facts.detectors import loop_carried
from xlalint.facts.detectors.varying_structure import check_coin
from xlalint.facts.domain.lattice import join_maybe, sequence
from xlalint.facts.domain.refinement import without_gradient
from xlalint.facts.domain.values import (
    HOST,
    NONE,
    OBJECT,
    UNKNOWN,
    Host,
    Sequence,
    Tensor,
    Value,
    class_object,
    host,
    tensor_of,
)
from xlalint.facts.events import Effect
from xlalint.facts.failures import OVERRUN, Overrun
from xlalint.facts.guards.always_raises import surely_raises
from xlalint.facts.guards.branch_rates import (
    BranchRates,
    branch_rates,
    by_text,
    is_exit,
    rate_of_rest,
    rates_by_data,
    skips_test,
)
from xlalint.facts.guards.constructor_defaults import note_default
from xlalint.facts.guards.device_branches import give_in_place, in_place_of, move_in_place, moved_return, moves_only
from xlalint.facts.guards.loop_counters import as_own_counter
from xlalint.facts.guards.narrowing import forget_told, with_defaults
from xlalint.facts.guards.passed_calls import note_passed_calls
from xlalint.facts.guards.periodic import remember
from xlalint.facts.guards.rare_inputs import asks_for_other_input
from xlalint.facts.guards.repeated_tests import recall_arm, remember_arms
from xlalint.facts.interpreter import conditions, operators, subscripts
from xlalint.facts.interpreter.assignment import appended, assign
from xlalint.facts.interpreter.loops import execute_for, execute_while
from xlalint.facts.interpreter.tensor_subscripts import index_tensor
from xlalint.facts.kinds import BOUNDARY_CONTEXTS, LOOPS, RegionKind
from xlalint.facts.libraries.frameworks.ignite_events import hook, is_hook
from xlalint.facts.operations import members, rounding
from xlalint.facts.regions import TURNS, regions_around
from xlalint.facts.state.environment import Environment, join_environments
from xlalint.facts.state.frame import Frame
from xlalint.facts.state.recorder import span_of
from xlalint.program import ir
from xlalint.program.growth import joins
from xlalint.program.traversal import names_in

NAMES_A_STATEMENT = 7
"""As a power of two: this many names cost what a statement does."""


def execute(frame: Frame, block: ir.Block) -> None:
    """Run a block; ``frame.environment`` is None afterwards where its end can't be reached."""
    table, engine = STATEMENTS, frame.engine
    # Branches and loops copy and join what is known by name, which is much faster than a statement.
    engine.work.statements += len(block) + (len(frame.env) >> NAMES_A_STATEMENT)
    if engine.work.is_met:
        raise Overrun(OVERRUN)
    arms, ranks = frame.arms, frame.ranks
    for position, statement in enumerate(block, 1):
        frame.statement = statement.at
        table[type(statement)](frame, statement)
        if frame.environment is None:
            break
        if type(statement) is not ir.If or not leaves(statement):
            continue
        if skips(statement):
            frame.ranks += frame.asks_rank
            if rate := rate_of_rest(frame, statement, block[position:]):
                execute_arm(frame, block[position:], rate, statement.at + 1)
                break
        frame.stand_in_arm(statement.at, False)
    frame.arms, frame.ranks = arms, ranks


def leaves(node: ir.If) -> bool:
    """``if x is None: return``: what follows runs only with the other outcome."""
    return not node.orelse and bool(node.body) and type(node.body[-1]) in (ir.Continue, ir.Return, ir.Raise)


def skips(node: ir.If) -> bool:
    """``if step % k: continue``: what follows runs as often as the other arm."""
    return not node.orelse and bool(node.body) and type(node.body[-1]) in (ir.Continue, ir.Return)


def execute_expression(frame: Frame, node: ir.Evaluate) -> None:
    if surely_raises(frame, node.value):
        # What follows is read all the same: who raises here may insist on another device.
        with frame.inside(RegionKind.RARE, node.at):
            frame.evaluate(node.value)
        return
    frame.evaluate(node.value)
    if is_exit(node) or skips_test(node):
        frame.environment = None


def execute_assign(frame: Frame, node: ir.Assign) -> None:
    value = frame.evaluate(node.value)
    targets = node.targets
    if frame.loops or type(targets[0]) is ir.Attribute or joins(node.value):
        loop_carried.check(frame, node, value)
        if type(node.value) is ir.Binary and not frame.loops:
            value = as_own_counter(frame, targets[0], value)
    for target in targets:
        assign(frame, target, value, node.value)
    if len(targets) == 1:
        remember(frame, targets[0], node.value)


def execute_annotated(frame: Frame, node: ir.Annotated) -> None:
    if node.value is None:
        return
    value = frame.evaluate(node.value)
    if value is UNKNOWN:
        value = frame.engine.annotated(node.annotation, frame.path) or UNKNOWN
    assign(frame, node.target, value, node.value)


def execute_augmented(frame: Frame, node: ir.Augmented) -> None:
    target = node.target
    if type(target) is ir.Subscript:
        augment_subscript(frame, node, target)
        return
    current = frame.evaluate(target)
    value = accumulated(frame, node)
    result = operators.binary(frame, node.operator, current, value, target)
    if type(current) is Tensor and type(result) is Tensor:
        # In place, a tensor keeps its shape and stays where it is; what is added to it lay there too, or it would
        # have raised.
        result = result.but(dims=current.dims, device=HOST if current.device == HOST else result.device)
    anew = rounding.rounded_in_place(frame, node, result)
    if anew is not None:
        result = anew
    elif type(result) is Host and result.type in ("int", "float") and frame.region[0] != RegionKind.BODY:
        varies = frame.loop_key()
        if varies is not None:
            result = host(result.type, varies=varies, read_from_device=result.read_from_device)
    if not frame.loops:
        result = as_own_counter(frame, target, result)
    if type(current) is Sequence and node.operator == "add":
        result = sequence(current.kind, None, join_maybe(appended(current), members.element_of(frame, value)))
    assign(frame, target, result, None)


def accumulated(frame: Frame, node: ir.Augmented) -> Value:
    """The added value; a read that is the whole of it can stay on the device, and says so."""
    value = frame.evaluate(node.value)
    if node.operator == "add":
        frame.mark_form(node.value, Effect.SCALAR_READ, "accumulated")
    return value


def augment_subscript(frame: Frame, node: ir.Augmented, target: ir.Subscript) -> None:
    holder = frame.evaluate(target.value)
    value = frame.evaluate(node.value)
    known = tensor_of(holder)
    if known is not None:
        index_tensor(frame, known, target.index, target, store=True)
        frame.pending()
    else:
        current = subscripts.subscript(frame, holder, target.index, target)
        result = operators.binary(frame, node.operator, current, value, target)
        assign(frame, target, result, None)


def execute_return(frame: Frame, node: ir.Return) -> None:
    value = frame.evaluate(node.value) if node.value is not None else NONE
    frame.result = join_maybe(frame.result, value)
    frame.final = join_environments(frame.final, frame.environment)
    frame.environment = None


def execute_if(frame: Frame, node: ir.If) -> None:
    effect, subject = Effect.BRANCH, "if"
    if node.body and type(node.body[-1]) is ir.Break and frame.region[0] != RegionKind.BODY:
        effect, subject = Effect.LOOP_TEST, "break"
    elif frame.rows and picks_rows(frame, node):
        effect, subject = Effect.FILTER, "loop"
    frame.asks_rank = frame.asks_data = False
    outcome = conditions.test(frame, node.test, effect, subject, form=arms_form(node))
    by_rank, by_data = frame.asks_rank, frame.asks_data
    rates = branch_rates(frame, node)
    arms = ((node.orelse, rates.orelse), (node.body, rates.body))
    # Who ends the program here insists on another device: the rest is read as if it were there.
    if outcome is not None and not rates.at_times and arms[outcome][1] != "rare":
        conditions.narrow(frame, node.test, outcome)
        region = frame.region
        conditions.stand_where_given(frame, node.test, outcome)
        around = frame.enter_arm(node.at, outcome)
        taken, dead = arms[outcome], arms[not outcome][0]
        note_passed_calls(frame, dead)
        returned = moved_return(frame.function, node, taken[0], dead)
        if returned:
            give_in_place(frame, returned)
        else:
            with in_place_of(frame, node.test, dead):
                execute_arm(frame, *taken, node.at if outcome else node.at + 1)
        frame.arms, frame.region = around, region
        if not taken[0] and moves_only(dead):
            move_in_place(frame, dead)
        return
    execute_either(frame, node, rates_by_data(rates, node) if by_data else rates, by_rank, by_data)


def execute_either(frame: Frame, node: ir.If, rates: BranchRates, by_rank: bool, by_data: bool) -> None:
    """Both arms of an ``if`` whose outcome is not known."""
    before, tests = frame.env, frame.tests
    frame.environment = before.copy()
    conditions.narrow(frame, node.test, True)
    recall_arm(frame, node.test, True)
    frame.undecided += 1
    frame.ranks += by_rank
    frame.by_data += by_data
    seldom = not rates.body and asks_for_other_input(frame.function, node.test)
    frame.tests = (*tests, (node.test, True))
    note_default(frame, node)
    around = frame.enter_arm(node.at, True)
    over = TURNS if rates.at_times and asks_own_turn(frame, node) else ""
    execute_arm(frame, node.body, RegionKind.AMORTISED if seldom else rates.body, node.at, over)
    frame.arms = around
    after = frame.end()
    frame.environment = before.copy()
    conditions.narrow(frame, node.test, False)
    recall_arm(frame, node.test, False)
    frame.tests = (*tests, (node.test, False))
    frame.enter_arm(node.at, False)
    execute_arm(frame, node.orelse, rates.orelse, node.at + 1, over)
    frame.arms, frame.tests = around, tests
    frame.undecided -= 1
    frame.ranks -= by_rank
    frame.by_data -= by_data
    other = frame.end()
    with_defaults(frame, node.test, after, other)
    forget_told(frame, after, other)
    frame.environment = before
    rounding.settle(frame, node, after, other)
    check_coin(frame, node, after, other)
    frame.environment = join_environments(after, other)
    remember_arms(frame, node.test, after, other)
    frame.asks_rank = by_rank


def picks_rows(frame: Frame, node: ir.If) -> bool:
    """``for row in x: if row.sum() > 0: rows.append(row)``."""
    return not node.orelse and not frame.rows.isdisjoint(names_in(node.test))


def asks_own_turn(frame: Frame, node: ir.If) -> bool:
    """``if level in levels`` in the loop over levels: what a test asks for is bound by the innermost loop around. What
    is also held against a limit, and raised, ends before long."""
    if by_text(node).limits:
        return False
    loop = next((key[1] for key in regions_around(frame.regions, frame.region) if key[0] in LOOPS), 0)
    return bool(loop) and any(frame.origins.get(name) == loop for name in names_in(node.test))


def execute_arm(frame: Frame, block: ir.Block, kind: RegionKind | None, at: int, over: str = "", text: int = 0) -> None:
    if kind is None:
        execute(frame, block)
        return
    with frame.inside(kind, at, over, text):
        execute(frame, block)


def arms_form(node: ir.If) -> str:
    """Whether both arms assign the same name once: the form that ``where`` can replace."""
    if len(node.body) != 1 or len(node.orelse) != 1:
        return ""
    a, b = node.body[0], node.orelse[0]
    if type(a) is not ir.Assign or type(b) is not ir.Assign or len(a.targets) != 1 or len(b.targets) != 1:
        return ""
    x, y = a.targets[0], b.targets[0]
    same = type(x) is ir.Name and type(y) is ir.Name and x.name == y.name
    return "both-arms-assign" if same else ""


def execute_break(frame: Frame, node: ir.Break) -> None:
    frame.breaks.append(frame.env)
    frame.environment = None


def execute_continue(frame: Frame, node: ir.Continue) -> None:
    frame.continues.append(frame.env)
    frame.environment = None


def execute_raise(frame: Frame, node: ir.Raise) -> None:
    # The text of an exception is built once, if ever: what it reads costs nothing in a step.
    frame.environment = None


def execute_assert(frame: Frame, node: ir.Assert) -> None:
    outcome = conditions.test(frame, node.test, Effect.ASSERTION, "assert")
    if outcome is False and type(node.test) is ir.Constant:
        frame.environment = None
        return
    # What asserts another device is read as if it held.
    conditions.narrow(frame, node.test, True)


def execute_with(frame: Frame, node: ir.With) -> None:
    entered = [frame.engine.enter(frame, expression) for expression, _ in node.items]
    for (_, target), (value, _) in zip(node.items, entered, strict=False):
        if target is not None:
            assign(frame, target, value, None)
    before = frame.no_grad
    kinds = [kind for _, kind in entered]
    frame.no_grad = before or RegionKind.EVALUATION in kinds
    context = next((kind for kind in kinds if kind in BOUNDARY_CONTEXTS), None)
    opening = 0
    if context is not None:
        opening = span_of(node.items[kinds.index(context)][0])
        frame.boundary(node.at)
    around = context or (RegionKind.EVALUATION if RegionKind.EVALUATION in kinds else None)
    outside = frame.env.copy()
    execute_arm(frame, node.body, around, node.at, text=opening)
    frame.no_grad = before
    if around is RegionKind.EVALUATION and frame.environment is not None:
        made = {name: value for name, value in frame.env.items() if outside.get(name) is not value}
        frame.env.update((name, without_gradient(value)) for name, value in made.items())
    if context is not None and frame.environment is not None:
        frame.boundary(node.at)


def execute_try(frame: Frame, node: ir.Try) -> None:
    before = frame.env.copy()
    execute(frame, node.body)
    if frame.environment is not None and node.orelse:
        execute(frame, node.orelse)
    after = frame.end()
    for name, block in node.handlers:
        frame.environment = join_environments(before.copy(), after) if after is not None else before.copy()
        if name:
            frame.env[name] = OBJECT
        with frame.inside(RegionKind.RARE, node.at):
            execute(frame, block)
        after = join_environments(after, frame.environment)
    frame.environment = after
    if node.final:
        reachable = frame.environment is not None
        if not reachable:
            frame.environment = before
        execute(frame, node.final)
        if not reachable:
            frame.environment = None


def execute_match(frame: Frame, node: ir.Match) -> None:
    subject = frame.evaluate(node.subject)
    if node.compares and conditions.read_as_truth(subject):
        frame.emit(Effect.BRANCH, span_of(node.subject), subject, "match", node.subject)
    before = frame.env
    after: Environment | None = before
    for names, guard, block in node.cases:
        frame.environment = before.copy()
        for name in names:
            frame.env[name] = UNKNOWN
        if guard is not None:
            conditions.test(frame, guard, Effect.BRANCH, "match")
        frame.undecided += 1
        execute(frame, block)
        frame.undecided -= 1
        after = join_environments(after, frame.environment)
    frame.environment = after


def execute_delete(frame: Frame, node: ir.Delete) -> None:
    for target in node.targets:
        if type(target) is ir.Name:
            frame.env.pop(target.name, None)


def execute_define(frame: Frame, node: ir.Define) -> None:
    value = members.close_over(frame, node.function)
    frame.bind(node.function.name, value)
    for decorator in node.function.decorators:
        if is_hook(decorator):
            hook(frame, decorator, value, [])  # type: ignore[arg-type]


def execute_class(frame: Frame, node: ir.DefineClass) -> None:
    frame.bind(node.cls.name, class_object(node.cls))


def execute_scope(frame: Frame, node: ir.Scope) -> None:
    frame.globals = frame.globals | frozenset(node.names)


STATEMENTS: dict[type, Callable[[Frame, Any], None]] = {
    ir.Evaluate: execute_expression,
    ir.Assign: execute_assign,
    ir.Annotated: execute_annotated,
    ir.Augmented: execute_augmented,
    ir.Return: execute_return,
    ir.If: execute_if,
    ir.For: execute_for,
    ir.While: execute_while,
    ir.Break: execute_break,
    ir.Continue: execute_continue,
    ir.Raise: execute_raise,
    ir.Assert: execute_assert,
    ir.With: execute_with,
    ir.Try: execute_try,
    ir.Match: execute_match,
    ir.Delete: execute_delete,
    ir.Define: execute_define,
    ir.DefineClass: execute_class,
    ir.Scope: execute_scope,
}
