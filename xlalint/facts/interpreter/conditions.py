"""Conditions: what their test reads on the host, whether their outcome is known, and what it implies."""

from __future__ import annotations

from xlalint.facts.domain.lattice import join_all
from xlalint.facts.domain.refinement import without_none
from xlalint.facts.domain.values import (
    BOOL,
    DECLARED,
    FALSE,
    NONE,
    RANK,
    TRUE,
    UNKNOWN,
    Bound,
    Host,
    Instance,
    Struct,
    Tensor,
    Value,
    alternatives,
    constant,
    surely_tensor,
    tensor_of,
    truth_value,
)
from xlalint.facts.events import Effect
from xlalint.facts.guards.attribute_flags import is_off_on_xla
from xlalint.facts.guards.narrowing import narrow
from xlalint.facts.guards.optional_arguments import found_given
from xlalint.facts.guards.periodic import has_turns
from xlalint.facts.guards.rare_inputs import holds_seldom
from xlalint.facts.kinds import RegionKind
from xlalint.facts.operations import members
from xlalint.facts.state.frame import Frame
from xlalint.facts.state.recorder import span_of
from xlalint.knowledge.tables import guards
from xlalint.program import ir
from xlalint.program.traversal import asks_for_any, dotted_text

__all__ = ["MOST_GUARDS", "evaluate_boolean", "narrow", "test"]

MOST_GUARDS = 100
"""Conditions that an event is said to stand behind."""


def test(frame: Frame, node: ir.Expr, effect: Effect, subject: str, form: str = "", at: int = 0) -> bool | None:
    """Evaluate a test; True or False where its outcome is known."""
    if type(node) is ir.Boolean:
        return truth_value(boolean(frame, node, effect, subject))
    if type(node) is ir.Unary and node.operator == "not":
        outcome = test(frame, node.operand, effect, subject)
        return None if outcome is None else not outcome
    value = chosen_on_xla(frame, node, frame.evaluate(node))
    if isinstance(value, (Instance, Struct)):
        value = as_truth(frame, value, getattr(node, "at", at))
    frame.asks_rank |= differs_by_rank(value)
    frame.asks_data |= is_read(value)
    if read_as_truth(value):
        frame.asks_data = True
        frame.emit(effect, getattr(node, "at", at), value, subject, tested_operand(frame, node), form=form)
    return truth_value(value)


def as_truth(frame: Frame, value: Instance | Struct, at: int) -> Value:
    """What the truth of an object of the program is asked of: what its ``__bool__`` or ``__len__`` gives."""
    for name in ("__bool__", "__len__"):
        if members.has_method(frame, value, name):
            return members.call_special_method(frame, value, name, [], at)
    return value


def differs_by_rank(value: Value) -> bool:
    return type(value) is Host and value.varies == RANK


def is_read(value: Value) -> bool:
    return type(value) is Host and value.read_from_device


def chosen_on_xla(frame: Frame, node: ir.Expr, value: Value) -> Value:
    """The value of a flag that decides whether torch_xla is imported, or is named after the device, where nothing else
    is known of it."""
    if not isinstance(node, (ir.Name, ir.Attribute)) or not (value is UNKNOWN or is_open_flag(value)):
        return value
    module = frame.engine.program.module(frame.path)
    flags = {} if module is None else module.xla_flags
    outcome = flags.get(dotted_text(node)) if flags else None
    if outcome is None and type(node) is ir.Name:
        outcome = guards().flags.get(node.name)
    elif outcome is None and module is not None and is_off_on_xla(module, node):
        outcome = False
    return value if outcome is None else constant(outcome)


def is_open_flag(value: Value) -> bool:
    return type(value) is Bound or (type(value) is Host and not value.known and value.type in FLAG_TYPES)


FLAG_TYPES = frozenset({"bool", "str", "?", "object", "int"})


def read_as_truth(value: Value) -> bool:
    known = tensor_of(value)
    if known is None or not known.live or not may_have_truth(known):
        return False
    return surely_tensor(value) or is_bool_or_none(value)


def may_have_truth(tensor: Tensor) -> bool:
    """A tensor of several elements has no truth, Python raises: what is only taken for a tensor, such as an entry of
    a batch, and may as well be a name or a list, is one of these where it is tested as it is."""
    return tensor.certainty >= DECLARED or tensor.dtype is not None or tensor.dims is not None


def is_bool_or_none(value: Value) -> bool:
    """``done = False`` before the loop, and ``done = (ids == eos).all()`` in it."""
    return all(
        part is NONE or part is FALSE or part is TRUE or (type(part) is Tensor and part.dtype == "bool")
        for part in alternatives(value)
    )


def tested_operand(frame: Frame, node: ir.Expr) -> ir.Expr:
    """The tensor whose value a test asks for: of a comparison the side that is one."""
    if type(node) is not ir.Compare:
        return node
    frame.quiet += 1
    sides = (side for side in (node.left, *node.rights) if reads_device(frame.evaluate(side)))
    found = next(sides, node.left)
    frame.quiet -= 1
    return found


def reads_device(value: Value) -> bool:
    known = tensor_of(value)
    return known is not None and known.live


def stand_behind(frame: Frame, test: ir.Expr, outcome: bool) -> None:
    """What comes runs only where a test, of which nothing is known, has this outcome. Who calls gives the guards and
    the region back."""
    if len(frame.guards) < MOST_GUARDS and not asks_for_any(test):
        # There nearly always is something.
        frame.guards = (*frame.guards, span_of(test))
    if holds_seldom(frame.function, test, outcome) or has_turns(frame, test, outcome):
        frame.region = frame.inside(RegionKind.AMORTISED, span_of(test)).key


def stand_where_given(frame: Frame, test: ir.Expr, outcome: bool) -> None:
    """What comes runs as often as the calls that give a parameter, where this outcome of a test finds it given."""
    position = found_given(frame, test, outcome)
    if position is not None:
        frame.region = frame.inside(RegionKind.GIVEN, span_of(test), str(position)).key


def evaluate_boolean(frame: Frame, node: ir.Boolean) -> Value:
    return boolean(frame, node, None, "")


def boolean(frame: Frame, node: ir.Boolean, effect: Effect | None, subject: str) -> Value:
    """``and`` / ``or``. ``effect`` is what the last operand is read for, None where it is only a value."""
    is_and = node.operator == "and"
    before = frame.env
    frame.environment = before.copy()
    guards, region = frame.guards, frame.region
    last = len(node.values) - 1
    values: list[Value] = []
    decided: bool | None = None
    for i, operand in enumerate(node.values):
        value = operand_value(frame, operand, effect if i == last else Effect.BOOLEAN_OPERATOR, subject, node)
        outcome = truth_value(value)
        if outcome is not None and outcome != is_and:
            values.append(value)
            decided = outcome
            break
        if outcome is None or i == last:
            values.append(value)
        if i < last:
            narrow(frame, operand, is_and)
            if outcome is None:
                stand_behind(frame, operand, is_and)
            else:
                stand_where_given(frame, operand, is_and)
    frame.guards, frame.region = guards, region
    frame.environment = before
    return boolean_result(values, is_and, decided)


def operand_value(frame: Frame, operand: ir.Expr, effect: Effect | None, subject: str, node: ir.Boolean) -> Value:
    """``subject`` is empty where the whole is only a value, and no test."""
    if type(operand) is ir.Boolean:
        return boolean(frame, operand, effect, subject)
    if subject and type(operand) is ir.Unary and operand.operator == "not":
        outcome = truth_value(operand_value(frame, operand.operand, effect, subject, node))
        return BOOL if outcome is None else constant(not outcome)
    value = chosen_on_xla(frame, operand, frame.evaluate(operand))
    frame.asks_rank |= differs_by_rank(value)
    frame.asks_data |= is_read(value)
    if effect is not None and read_as_truth(value):
        frame.asks_data = True
        boolean_operand = effect is Effect.BOOLEAN_OPERATOR
        frame.emit(
            effect,
            span_of(operand),
            value,
            node.operator if boolean_operand else subject,
            tested_operand(frame, operand),
            form=operand_form(operand, value, subject, node) if boolean_operand else "",
        )
    return value


def operand_form(operand: ir.Expr, value: Value, subject: str, node: ir.Boolean) -> str:
    if len(node.values) == 2 and operand is node.values[0] and is_bool(value):
        return "two-bool-tensors"
    if subject:
        return "in-test"
    known = tensor_of(value)
    if known is None or known.dtype == "bool" or known.rank == 0:
        return ""
    is_default = node.operator == "or" and isinstance(operand, ir.Name | ir.Attribute)
    return "given-or-not" if known.dtype is not None or is_default else ""


def is_bool(value: Value) -> bool:
    known = tensor_of(value)
    return known is not None and known.dtype == "bool"


def boolean_result(values: list[Value], is_and: bool, decided: bool | None) -> Value:
    if not values:
        return TRUE if is_and else FALSE
    if is_and:
        if decided is False:
            return FALSE if len(values) == 1 else values[-1]
        return join_all(values)
    if decided is True and len(values) == 1:
        return values[0]
    # ``x or default``: what is taken from the left is not None.
    kept = [without_none(v) if i < len(values) - 1 else v for i, v in enumerate(values) if v is not NONE]
    return join_all(kept or values)
