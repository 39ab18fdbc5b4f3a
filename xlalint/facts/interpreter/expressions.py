"""Expressions, evaluated in the order of Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xlalint.facts.detectors.text_reads import read_by_text
from xlalint.facts.detectors.timers import check_elapsed
from xlalint.facts.domain.lattice import join, join_all, join_maybe, sequence, union
from xlalint.facts.domain.role import Role
from xlalint.facts.domain.row_lengths import row_length
from xlalint.facts.domain.values import (
    ANY_HOST,
    BOOL,
    FALSE,
    NONE,
    OBJECT,
    RANK,
    STR,
    UNKNOWN,
    Bound,
    Host,
    Instance,
    KnownObject,
    Mapping,
    Sequence,
    Struct,
    Tensor,
    Value,
    alternatives,
    constant,
    host,
    mapping,
    surely_tensor,
    tensor_of,
    truth_value,
)
from xlalint.facts.events import Effect
from xlalint.facts.guards.attribute_flags import is_off_on_xla
from xlalint.facts.guards.device_branches import chosen_in_place
from xlalint.facts.guards.narrowing import like_default
from xlalint.facts.interpreter import calls, comparisons, conditions, operators, subscripts
from xlalint.facts.interpreter.loop_bounds import takes_no_turn
from xlalint.facts.interpreter.names import lookup
from xlalint.facts.kinds import RegionKind
from xlalint.facts.libraries.python.named_attributes import fields_as_mapping
from xlalint.facts.operations import members
from xlalint.facts.operations.placement import given_by
from xlalint.facts.operations.rounding import rounded
from xlalint.facts.state.frame import Frame
from xlalint.facts.state.recorder import span_of
from xlalint.knowledge.tables import guards
from xlalint.program import ir
from xlalint.program.traversal import none_tested


def evaluate_constant(frame: Frame, node: ir.Constant) -> Value:
    if frame.stands_for_device and node.value == "cpu":
        return STR
    return constant(node.value)


FLAGS = guards().flags


def evaluate_attribute(frame: Frame, node: ir.Attribute) -> Value:
    name = node.name
    value = attribute_value(frame, node, name)
    flag = FLAGS.get(name)
    if flag is not None and (value in (UNKNOWN, NONE, ANY_HOST) or type(value) is Bound or is_host_bool(value)):
        return constant(flag)
    if name == "cuda" and (value is UNKNOWN or type(value) is Bound):
        module = frame.engine.program.module(frame.path)
        if module is not None and is_off_on_xla(module, node):
            return FALSE
    return value


def is_host_bool(value: Value) -> bool:
    return type(value) is Host and value.type == "bool"


def attribute_value(frame: Frame, node: ir.Attribute, name: str) -> Value:
    base = node.value
    if type(base) is ir.Name and base.name == "self":
        known = frame.env.get(f"self.{name}")
        if known is not None:
            return known
    holder = frame.evaluate(base)
    if name == "__dict__":
        return fields_as_mapping(frame, holder, base)
    return given_by(frame, base, members.attribute(frame, holder, name))


def evaluate_display(frame: Frame, node: ir.Display) -> Value:
    kind = node.kind
    elements: list[Value] = []
    exact = kind != "set"
    for element in node.elements:
        if type(element) is ir.Starred:
            value = frame.evaluate(element.value)
            if type(value) is Sequence and value.elements is not None:
                elements.extend(value.elements)
            else:
                exact = False
                elements.append(members.element_of(frame, value))
        else:
            elements.append(frame.evaluate(element))
    if exact:
        return sequence(kind, elements)
    return sequence(kind, None, join_all(elements))


def evaluate_dict(frame: Frame, node: ir.DictDisplay) -> Value:
    items: list[tuple[Any, Value]] = []
    rest: Value | None = None
    for key, element in zip(node.keys, node.values, strict=False):
        value = frame.evaluate(element)
        if key is None:
            if type(value) is Mapping:
                items.extend(value.items)
                rest = join_maybe(rest, value.rest)
            else:
                rest = UNKNOWN
            continue
        name = frame.evaluate(key)
        if type(name) is Host and name.known:
            items.append((name.constant, value))
        else:
            rest = join_maybe(rest, value)
    return mapping(tuple(dict(items).items()), rest)


def evaluate_binary(frame: Frame, node: ir.Binary) -> Value:
    left = frame.evaluate(node.left)
    right = frame.evaluate(node.right)
    if node.operator == "sub" and right is ANY_HOST:
        check_elapsed(frame, node)
    return rounded(frame, node, operators.binary(frame, node.operator, left, right, node))


def evaluate_unary(frame: Frame, node: ir.Unary) -> Value:
    value = frame.evaluate(node.operand)
    if node.operator == "not":
        known = tensor_of(value)
        if known is not None and known.live and surely_tensor(value):
            frame.emit(Effect.BOOLEAN_OPERATOR, span_of(node.operand), value, "not", node.operand, form="negated")
        truth = truth_value(value)
        if type(value) is Host and value.varies == RANK:
            return host("bool", varies=RANK)
        return BOOL if truth is None else constant(not truth)
    if type(value) is Tensor:
        frame.pending()
        return value.but(optional=False)
    if isinstance(value, (Instance, Struct)):
        return members.call_special_method(frame, value, f"__{node.operator}__", [], node.at)
    return union([negated(part) for part in alternatives(value)]) if node.operator == "neg" else value


def negated(value: Value) -> Value:
    if type(value) is Host and value.type in ("int", "float") and value.known:
        return constant(-value.constant)
    return value


def evaluate_conditional(frame: Frame, node: ir.Conditional) -> Value:
    outcome = conditions.test(frame, node.test, Effect.BRANCH, "conditional expression", form="conditional")
    before = frame.env
    if outcome is not None:
        frame.environment = before.copy()
        conditions.narrow(frame, node.test, outcome)
        taken, dead = (node.body, node.orelse) if outcome else (node.orelse, node.body)
        region = frame.region
        conditions.stand_where_given(frame, node.test, outcome)
        value = chosen_in_place(frame, node.test, taken, dead)
        frame.environment, frame.region = before, region
        return value
    frame.environment = before.copy()
    conditions.narrow(frame, node.test, True)
    guards, region = frame.guards, frame.region
    conditions.stand_behind(frame, node.test, True)
    yes = frame.evaluate(node.body)
    frame.guards, frame.region = guards, region
    frame.environment = before.copy()
    conditions.narrow(frame, node.test, False)
    no = frame.evaluate(node.orelse)
    frame.environment = before
    return or_default(frame, node, yes, no)


def or_default(frame: Frame, node: ir.Conditional, yes: Value, no: Value) -> Value:
    """``x if y is None else y``: what is given is taken for what stands in for it."""
    asked = none_tested(node.test)
    if asked is not None:
        absent, given, own = (yes, no, node.orelse) if asked[1] else (no, yes, node.body)
        is_own = type(own) is ir.Name and own.name == asked[0]
        if is_own and given is UNKNOWN:
            given = like_default(frame, absent)
            return given if given is UNKNOWN else join(absent, given)
    return join(yes, no)


def evaluate_fstring(frame: Frame, node: ir.FString) -> Value:
    for field in node.fields:
        evaluate_formatted(frame, field)
    return STR


def evaluate_formatted(frame: Frame, node: ir.Formatted) -> Value:
    value = frame.evaluate(node.value)
    known = tensor_of(value)
    if known is not None and known.live and surely_tensor(value):
        scalar = node.has_spec
        effect = Effect.SCALAR_READ if scalar else Effect.PRINTED
        frame.emit(effect, node.at, value, "format" if scalar else "f-string", node.value)
    else:
        read_by_text(frame, value, node.at, "f-string", node.value)
    return STR


def evaluate_subscript(frame: Frame, node: ir.Subscript) -> Value:
    value = frame.evaluate(node.value)
    return subscripts.subscript(frame, value, node.index, node)


def evaluate_slice(frame: Frame, node: ir.Slice) -> Value:
    for bound in (node.lower, node.upper, node.step):
        if bound is not None:
            frame.evaluate(bound)
    return OBJECT


def evaluate_lambda(frame: Frame, node: ir.Lambda) -> Value:
    return members.close_over(frame, node.function)


def evaluate_comprehension(frame: Frame, node: ir.Comprehension) -> Value:
    before = frame.env
    frame.environment = before.copy()
    exact: tuple[Value, ...] | None = None
    first = node.generators[0]
    outer = frame.evaluate(first.iterable)
    if takes_no_turn(outer):
        return mapping() if node.kind == "dict" else sequence("set" if node.kind == "set" else "list", ())
    over = "loader" if type(outer) is KnownObject and outer.role == Role.LOADER else ""
    with frame.inside(RegionKind.LOOP, node.at, over, span_of(first.iterable)):
        for generator in node.generators:
            iterable = outer if generator is first else frame.evaluate(generator.iterable)
            element = members.element_of(frame, iterable)
            if type(iterable) is Host and iterable.type == "range":
                element = host("int", varies=frame.loop_key())
            assign_target(frame, generator.target, element)
            for condition in generator.conditions:
                conditions.test(frame, condition, Effect.FILTER, "comprehension condition")
                conditions.narrow(frame, condition, True)
        if node.kind == "dict":
            assert node.key is not None
            frame.evaluate(node.key)
            made = frame.evaluate(node.element)
            result: Value = entries_of(frame, node, outer) or mapping((), made)
        else:
            element = row_length(frame.evaluate(node.element), node.element, frame.evaluate)
            exact = unrolled(frame, node, outer, element) if node.kind != "set" else None
            kind = "set" if node.kind == "set" else "list"
            result = sequence(kind, exact) if exact is not None else sequence(kind, None, element)
    frame.environment = before
    return result


def unrolled(frame: Frame, node: ir.Comprehension, iterable: Value, element: Value) -> tuple[Value, ...] | None:
    """The elements one by one, where the iterable is short and known and nothing is filtered."""
    if len(node.generators) != 1 or node.generators[0].conditions or element is UNKNOWN:
        return None
    if type(iterable) is not Sequence or not iterable.elements or len(iterable.elements) > 4:
        return None
    values = []
    for part in iterable.elements:
        assign_target(frame, node.generators[0].target, part)
        values.append(frame.evaluate(node.element))
    return tuple(values)


MOST_ENTRIES = 16


def entries_of(frame: Frame, node: ir.Comprehension, iterable: Value) -> Value | None:
    """``{k: v.to(device) for k, v in batch.items()}`` of a dict whose keys are known."""
    if len(node.generators) != 1 or type(iterable) is not Sequence or node.key is None:
        return None
    if not iterable.elements or len(iterable.elements) > MOST_ENTRIES:
        return None
    items: list[tuple[Any, Value]] = []
    for part in iterable.elements:
        assign_target(frame, node.generators[0].target, part)
        key = frame.evaluate(node.key)
        if type(key) is not Host or not key.known:
            return None
        if all(holds(frame, condition) for condition in node.generators[0].conditions):
            items.append((key.constant, frame.evaluate(node.element)))
    return mapping(tuple(dict(items).items()))


def holds(frame: Frame, condition: ir.Expr) -> bool:
    """Whether a condition of a comprehension, which has been told, may hold of the element at hand."""
    frame.quiet += 1
    outcome = truth_value(frame.evaluate(condition))
    frame.quiet -= 1
    if outcome is not False:
        conditions.narrow(frame, condition, True)
    return outcome is not False


def assign_target(frame: Frame, target: ir.Expr, value: Value) -> None:
    frame.engine.assign(frame, target, value, None)


def evaluate_starred(frame: Frame, node: ir.Starred) -> Value:
    return frame.evaluate(node.value)


def evaluate_yield(frame: Frame, node: ir.Yield) -> Value:
    if node.value is not None:
        value = frame.evaluate(node.value)
        if node.from_:
            value = members.element_of(frame, value)
        frame.yielded = join_maybe(frame.yielded, value)
    return UNKNOWN


def evaluate_await(frame: Frame, node: ir.Await) -> Value:
    return frame.evaluate(node.value)


def evaluate_walrus(frame: Frame, node: ir.Walrus) -> Value:
    value = frame.evaluate(node.value)
    frame.bind(node.target, value)
    return value


EXPRESSIONS: dict[type, Callable[[Frame, Any], Value]] = {
    ir.Constant: evaluate_constant,
    ir.Name: lookup,
    ir.Attribute: evaluate_attribute,
    ir.Call: calls.evaluate_call,
    ir.Subscript: evaluate_subscript,
    ir.Slice: evaluate_slice,
    ir.Binary: evaluate_binary,
    ir.Unary: evaluate_unary,
    ir.Boolean: conditions.evaluate_boolean,
    ir.Compare: comparisons.evaluate_compare,
    ir.Conditional: evaluate_conditional,
    ir.FString: evaluate_fstring,
    ir.Formatted: evaluate_formatted,
    ir.Display: evaluate_display,
    ir.DictDisplay: evaluate_dict,
    ir.Comprehension: evaluate_comprehension,
    ir.Lambda: evaluate_lambda,
    ir.Starred: evaluate_starred,
    ir.Yield: evaluate_yield,
    ir.Await: evaluate_await,
    ir.Walrus: evaluate_walrus,
}
