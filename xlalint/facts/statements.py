"""Statements: how they change the environment, and where control goes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xlalint.facts import carried, conditions, engines, objects, operators, rounding, subscripts
from xlalint.facts import domain as d
from xlalint.facts.devices import in_place_of
from xlalint.facts.events import Effect
from xlalint.facts.failing import surely_raises
from xlalint.facts.frame import Environment, Frame, join_environments, span_of
from xlalint.facts.loops import execute_for, execute_while
from xlalint.facts.mentions import names_in
from xlalint.facts.narrowing import forget_told, with_defaults
from xlalint.facts.pace import guarded_pace, is_exit, remember
from xlalint.facts.process_environment import check_assigned
from xlalint.facts.seldom import asks_for_other_input
from xlalint.facts.varying_structure import check_coin
from xlalint.program import ir


def execute(frame: Frame, block: ir.Block) -> None:
    """Run a block; ``frame.environment`` is None afterwards where its end can't be reached."""
    table = STATEMENTS
    for position, statement in enumerate(block, 1):
        frame.statement = statement.at
        table[type(statement)](frame, statement)
        if frame.environment is None:
            return
        if type(statement) is ir.If and skips(statement) and (pace := guarded_pace(frame, statement).orelse):
            execute_arm(frame, block[position:], pace, statement.at + 1)
            return


def skips(node: ir.If) -> bool:
    """``if step % k: continue``: what follows runs as often as the other arm."""
    return not node.orelse and bool(node.body) and type(node.body[-1]) in (ir.Continue, ir.Return)


def execute_expression(frame: Frame, node: ir.Evaluate) -> None:
    if surely_raises(frame, node.value):
        # What follows is read all the same: who raises here may insist on another device.
        with frame.inside("rare", node.at):
            frame.evaluate(node.value)
        return
    frame.evaluate(node.value)
    if is_exit(node):
        frame.environment = None


def execute_assign(frame: Frame, node: ir.Assign) -> None:
    value = frame.evaluate(node.value)
    targets = node.targets
    if frame.loops or type(targets[0]) is ir.Attribute:
        carried.check(frame, node, value)
    for target in targets:
        assign(frame, target, value, node.value)
    if len(targets) == 1:
        remember(frame, targets[0], node.value)


def execute_annotated(frame: Frame, node: ir.Annotated) -> None:
    if node.value is None:
        return
    value = frame.evaluate(node.value)
    if value is d.UNKNOWN:
        value = frame.engine.annotated(node.annotation, frame.path) or d.UNKNOWN
    assign(frame, node.target, value, node.value)


def execute_augmented(frame: Frame, node: ir.Augmented) -> None:
    target = node.target
    if type(target) is ir.Subscript:
        augment_subscript(frame, node, target)
        return
    current = frame.evaluate(target)
    value = accumulated(frame, node)
    result = operators.binary(frame, node.operator, current, value, target)
    if type(current) is d.Tensor and type(result) is d.Tensor and current.device == d.HOST:
        # In place, a tensor stays where it is; what is added to it lay there too, or it would have raised.
        result = result.but(device=d.HOST)
    anew = rounding.rounded_in_place(frame, node, result)
    if anew is not None:
        result = anew
    elif type(result) is d.Host and result.type in ("int", "float") and frame.region[0] != "body":
        varies = frame.loop_key()
        if varies is not None:
            result = d.host(result.type, varies=varies, paid=result.paid)
    if type(current) is d.Sequence and node.operator == "add":
        result = d.sequence(current.kind, None, d.join_maybe(appended(current), objects.element_of(frame, value)))
    assign(frame, target, result, None)


def accumulated(frame: Frame, node: ir.Augmented) -> d.Value:
    """The added value; a read that is the whole of it can stay on the device, and says so."""
    value = frame.evaluate(node.value)
    if node.operator == "add":
        frame.mark_form(node.value, Effect.SCALAR_READ, "accumulated")
    return value


def appended(value: d.Sequence) -> d.Value | None:
    return None if value.elements == () else value.element


def augment_subscript(frame: Frame, node: ir.Augmented, target: ir.Subscript) -> None:
    holder = frame.evaluate(target.value)
    value = frame.evaluate(node.value)
    known = d.tensor_of(holder)
    if known is not None:
        subscripts.index_tensor(frame, known, target.index, target, store=True)
        frame.pending()
    else:
        current = subscripts.subscript(frame, holder, target.index, target)
        result = operators.binary(frame, node.operator, current, value, target)
        assign(frame, target, result, None)


def execute_return(frame: Frame, node: ir.Return) -> None:
    value = frame.evaluate(node.value) if node.value is not None else d.NONE
    frame.result = d.join_maybe(frame.result, value)
    frame.final = join_environments(frame.final, frame.environment)
    frame.environment = None


def execute_if(frame: Frame, node: ir.If) -> None:
    effect, subject = Effect.BRANCH, "if"
    if node.body and type(node.body[-1]) is ir.Break and frame.region[0] != "body":
        effect, subject = Effect.LOOP_TEST, "break"
    elif frame.rows and picks_rows(frame, node):
        effect, subject = Effect.FILTER, "loop"
    outcome = conditions.test(frame, node.test, effect, subject, form=arms_form(node))
    pace = guarded_pace(frame, node)
    arms = ((node.orelse, pace.orelse), (node.body, pace.body))
    # Who ends the program here insists on another device: the rest is read as if it were there.
    if outcome is not None and not pace.at_times and arms[outcome][1] != "rare":
        conditions.narrow(frame, node.test, outcome)
        region = frame.region
        conditions.stand_where_given(frame, node.test, outcome)
        with in_place_of(frame, arms[not outcome][0]):
            execute_arm(frame, *arms[outcome], node.at if outcome else node.at + 1)
        frame.region = region
        return
    before = frame.env
    frame.environment = dict(before)
    conditions.narrow(frame, node.test, True)
    frame.undecided += 1
    seldom = not pace.body and asks_for_other_input(frame.function, node.test)
    execute_arm(frame, node.body, "amortised" if seldom else pace.body, node.at)
    after = frame.environment
    frame.environment = before
    conditions.narrow(frame, node.test, False)
    execute_arm(frame, node.orelse, pace.orelse, node.at + 1)
    frame.undecided -= 1
    other = frame.environment
    with_defaults(frame, node.test, after, other)
    forget_told(frame, after, other)
    frame.environment = before
    rounding.settle(frame, node, after, other)
    check_coin(frame, node, after, other)
    frame.environment = join_environments(after, other)


def picks_rows(frame: Frame, node: ir.If) -> bool:
    """``for row in x: if row.sum() > 0: rows.append(row)``."""
    return not node.orelse and not frame.rows.isdisjoint(names_in(node.test))


def execute_arm(frame: Frame, block: ir.Block, pace: str, at: int, text: int = 0) -> None:
    if not pace:
        execute(frame, block)
        return
    with frame.inside(pace, at, "", text):
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
    frame.no_grad = before or "evaluation" in kinds
    context = next((kind for kind in kinds if kind.startswith("boundary ")), "")
    opening = 0
    if context:
        opening = span_of(node.items[kinds.index(context)][0])
        frame.boundary(node.at)
    pace = context or ("evaluation" if "evaluation" in kinds else "")
    outside = dict(frame.env)
    execute_arm(frame, node.body, pace, node.at, opening)
    frame.no_grad = before
    if pace == "evaluation" and frame.environment is not None:
        made = {name: value for name, value in frame.env.items() if outside.get(name) is not value}
        frame.env.update((name, d.without_gradient(value)) for name, value in made.items())
    if context and frame.environment is not None:
        frame.boundary(node.at)


def execute_try(frame: Frame, node: ir.Try) -> None:
    before = dict(frame.env)
    execute(frame, node.body)
    if frame.environment is not None and node.orelse:
        execute(frame, node.orelse)
    after = frame.environment
    for name, block in node.handlers:
        frame.environment = join_environments(dict(before), after) if after is not None else dict(before)
        if name:
            frame.env[name] = d.OBJECT
        with frame.inside("rare", node.at):
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
        frame.environment = dict(before)
        for name in names:
            frame.env[name] = d.UNKNOWN
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
    value = objects.close_over(frame, node.function)
    frame.bind(node.function.name, value)
    for decorator in node.function.decorators:
        if engines.is_hook(decorator):
            engines.hook(frame, decorator, value, [])  # type: ignore[arg-type]


def execute_class(frame: Frame, node: ir.DefineClass) -> None:
    frame.bind(node.cls.name, d.cls(node.cls))


def execute_scope(frame: Frame, node: ir.Scope) -> None:
    frame.globals = frame.globals | frozenset(node.names)


# Targets


def assign(frame: Frame, target: ir.Expr, value: d.Value, source: ir.Expr | None) -> None:
    kind = type(target)
    if kind is ir.Name:
        frame.bind(target.name, value)  # type: ignore[union-attr]
    elif kind is ir.Display:
        unpack(frame, target, value, source)  # type: ignore[arg-type]
    elif kind is ir.Attribute:
        assign_attribute(frame, target, value)  # type: ignore[arg-type]
    elif kind is ir.Subscript:
        assign_subscript(frame, target, value)  # type: ignore[arg-type]
    elif kind is ir.Starred:
        assign(frame, target.value, value, None)  # type: ignore[union-attr,arg-type]


def unpack(frame: Frame, target: ir.Display, value: d.Value, source: ir.Expr | None) -> None:
    names = target.elements
    count = len(names)
    starred = any(type(name) is ir.Starred for name in names)
    if type(value) is d.Sequence and value.elements is not None and len(value.elements) == count and not starred:
        for name, element in zip(names, value.elements, strict=False):
            assign(frame, name, element, None)
        return
    if type(value) is d.Host and value.type == "size" and source is not None and not starred:
        learn_rank(frame, source, count)
    for i, name in enumerate(names):
        if type(name) is ir.Starred:
            rest = d.SIZE if value is d.SIZE else d.sequence("list", None, objects.element_of(frame, value))
            assign(frame, name.value, rest, None)
        else:
            assign(frame, name, unpacked(frame, value, i, count), None)


def unpacked(frame: Frame, value: d.Value, position: int, count: int) -> d.Value:
    parts = []
    for part in d.alternatives(value):
        if part is d.NONE:
            continue
        if type(part) is d.Sequence and part.elements is not None and position < len(part.elements):
            parts.append(part.elements[position])
        else:
            parts.append(objects.element_of(frame, part))
    return d.joins(parts)


def learn_rank(frame: Frame, source: ir.Expr, rank: int) -> None:
    """``b, s, h = x.shape`` tells the rank of x."""
    attribute = source.function if type(source) is ir.Call else source
    if type(attribute) is not ir.Attribute or type(attribute.value) is not ir.Name:
        return
    known = frame.env.get(attribute.value.name)
    if type(known) is d.Tensor and known.rank is None:
        frame.env[attribute.value.name] = known.but(dims=d.of_rank(rank))


def assign_attribute(frame: Frame, target: ir.Attribute, value: d.Value) -> None:
    holder = frame.evaluate(target.value)
    base = target.value
    if type(base) is ir.Name and base.name == "self":
        frame.bind(f"self.{target.name}", value)
        frame.writes[target.name] = d.join_maybe(frame.writes.get(target.name), value) or value
    elif type(holder) is d.Record and type(base) is ir.Name:
        fields = dict(holder.fields)
        fields[target.name] = value
        frame.env[base.name] = d.record(holder.ir, tuple(fields.items()))
    elif type(base) is ir.Name and type(holder) is d.Module and type(holder.elements) is d.Mapping:
        items = dict(holder.elements.items)
        items[target.name] = value
        frame.env[base.name] = d.module(holder.name, d.mapping(tuple(items.items()), holder.elements.rest))


def assign_subscript(frame: Frame, target: ir.Subscript, value: d.Value) -> None:
    holder = frame.evaluate(target.value)
    known = d.tensor_of(holder) if type(holder) is not d.Role else None
    if known is not None:
        store_in_tensor(frame, target, known, value)
    elif type(holder) is d.Mapping:
        key = frame.evaluate(target.index)
        store(frame, target.value, mapping_with(holder, key, value))
    elif type(holder) is d.Sequence:
        key = frame.evaluate(target.index)
        number = d.tensor_of(key)
        if number is not None and number.live and d.surely_tensor(key):
            frame.emit(Effect.TENSOR_AS_NUMBER, target.at, key, "list index", target.index)
        store(frame, target.value, d.sequence(holder.kind, None, d.join_maybe(appended(holder), value)))
    else:
        key = frame.evaluate(target.index)
        check_assigned(frame, holder, key, value, target)
        subscripts.masks_unknown(frame, holder, key, target.index, target, Effect.BOOLEAN_ASSIGN)
        element = d.tensor_of(value)
        if holder is d.NUMPY and element is not None and element.live and d.surely_tensor(value):
            frame.emit(Effect.VALUES_TO_LIST, target.at, value, "numpy element", target)


def store_in_tensor(frame: Frame, target: ir.Subscript, known: d.Tensor, value: d.Value) -> None:
    form = ""
    if type(value) is d.Host and value.type in ("int", "float", "bool"):
        form = "scalar-value"
        index = target.index
        if type(index) is not ir.Display and known.dims is not None:
            key = frame.evaluate(index)
            if type(key) is d.Tensor and key.dims == known.dims and None not in known.dims:
                form = "scalar-value-same-shape"
    subscripts.index_tensor(frame, known, target.index, target, store=True, form=form)
    frame.pending()
    # What is only likely to be a tensor, a loader's batch, takes what it is given where it lies: it is a dict.
    surely_host = known.device == d.HOST and known.certainty == 2
    if surely_host and type(value) is d.Tensor and value.device == d.XLA and value.certainty == 2:
        frame.emit(Effect.COPY_TO_HOST, target.at, value, "element of a host tensor", target)


def mapping_with(holder: d.Mapping, key: d.Value, value: d.Value) -> d.Value:
    if type(key) is d.Host and key.known:
        items = dict(holder.items)
        items[key.constant] = value
        return d.mapping(tuple(items.items()), holder.rest)
    return d.mapping(holder.items, d.join_maybe(holder.rest, value))


def store(frame: Frame, holder: ir.Expr, value: d.Value) -> None:
    """Keep a container's new value under the name that holds it."""
    if type(holder) is ir.Name:
        frame.env[holder.name] = value
    elif type(holder) is ir.Attribute and type(holder.value) is ir.Name and holder.value.name == "self":
        frame.env[f"self.{holder.name}"] = value
        frame.writes[holder.name] = d.join_maybe(frame.writes.get(holder.name), value) or value


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
