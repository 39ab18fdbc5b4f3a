"""Costly library calls whose cost no op of theirs shows: rows of ``calls.csv``."""

from __future__ import annotations

from xlalint.facts.detectors.fallbacks import argument
from xlalint.facts.domain.refinement import as_operand
from xlalint.facts.domain.role import Role
from xlalint.facts.domain.values import NONE, KnownObject, Mapping, Sequence, Tensor, Value, surely_tensor, tensor_of
from xlalint.facts.events import Effect
from xlalint.facts.state.call import Call
from xlalint.facts.state.frame import Frame
from xlalint.facts.state.roots import root_of
from xlalint.knowledge.conditions import decide, parse
from xlalint.knowledge.tables import CostlyCall, costly_calls
from xlalint.program import ir
from xlalint.program.traversal import names_in, receiver_node

FREE = "free"
ANY = "*"
WITHIN = "in "


def check_call(
    frame: Frame,
    call: Call,
    *,
    fixable: bool = True,
    certainty: int = 2,
) -> None:
    """Note the cost of the first row that holds for a call of ``name`` and has what it works on. ``fixable`` is whether
    the call itself is one of ``name``, so that its fix can be made there.
    ``certainty`` tells how sure it is that it costs."""
    name = call.name
    for row in costly_calls().get(name, ()):
        if not meets_condition(row, call.arguments, call.keywords) or any(
            name in frame.engine.program.called for name in row.unless
        ):
            continue
        known = operand(row, call.arguments, call.keywords)
        if known is None:
            continue
        if row.effect != FREE and not (row.chosen and is_chosen(frame.function.body, call.node.at)):
            shown = call.node.arguments[0] if row.operand and call.node.arguments else None
            form = row.fix if fixable else ""
            effect = Effect(row.effect)
            root = root_of(frame, effect, shown or receiver_node(call.node))
            frame.emit(
                effect,
                call.node.at,
                known,
                name,
                shown,
                certainty=certainty,
                detail=row.detail,
                form=form,
                root=root,
            )
        return


def meets_condition(row: CostlyCall, arguments: list[Value], keywords: dict[str, Value]) -> bool:
    """Whether the condition is known to be met; what ``**`` hands on may be anything."""
    if not row.condition:
        return True
    if "**" in keywords:
        return False
    given = {name: value for name in row.positions if (value := passed(row, name, arguments, keywords)) is not None}
    given.update(keywords)
    return decide(parse(row.condition), {name: argument(value) for name, value in given.items()}, {}) is True


def is_chosen(block: ir.Block, at: int, tested: bool = False) -> bool:
    """Whether a place stands behind a test, other than that for the main program."""
    for statement in block:
        if ir.encloses(statement.at, at):
            return tested
        inner_tested = tested or (type(statement) is ir.If and "__name__" not in names_in(statement.test))
        inner = [getattr(statement, field, ()) for field in ("body", "orelse", "final")]
        inner += [handler for _, handler in getattr(statement, "handlers", ())]
        if any(type(part) is tuple and is_chosen(part, at, inner_tested) for part in inner):
            return True
    return False


HANDED_ON = "**"


def passed(row: CostlyCall, parameter: str, arguments: list[Value], keywords: dict[str, Value]) -> Value | None:
    position = row.positions.get(parameter, len(arguments))
    return arguments[position] if position < len(arguments) else keywords.get(parameter)


def operand(row: CostlyCall, arguments: list[Value], keywords: dict[str, Value]) -> Value | None:
    """What the call works on: a device tensor, or nothing that matters; None where it needs one and has none."""
    if not row.operand:
        return NONE
    if row.operand.startswith(WITHIN):
        return held_tensor(passed(row, row.operand.removeprefix(WITHIN), arguments, keywords))
    if row.operand.endswith(HANDED_ON):
        own = passed(row, row.operand.removesuffix(HANDED_ON), arguments, keywords)
        given = [own if own is not None else keywords.get(HANDED_ON)]
    elif row.operand == ANY:
        given = [*arguments, *keywords.values()]
    else:
        given = [passed(row, row.operand, arguments, keywords)]
    for value in given:
        known = tensor_of(as_operand(value)) if value is not None else None
        if known is not None and known.live and (known is value or surely_tensor(as_operand(value or NONE))):
            return known
    return None


def check_generator(frame: Frame, call: Call, made: Value) -> None:
    """A generator of the host draws there, wherever the result is to lie."""
    given = call.keywords.get("generator")
    known = tensor_of(made)
    if type(given) is KnownObject and given.role == Role.GENERATOR and known is not None and known.live:
        shown = next((value for name, value in call.node.keywords if name == "generator"), None)
        frame.emit(Effect.HOST_GENERATOR, call.node.at, known, "generator", shown)


def held_tensor(value: Value | None) -> Value | None:
    """A device tensor that a structure holds, at whatever depth."""
    if type(value) is Tensor:
        return value if value.live else None
    parts: list[Value] = []
    if type(value) is Mapping:
        parts = [part for _, part in value.items] + ([value.rest] if value.rest is not None else [])
    elif type(value) is Sequence:
        parts = [*value.elements] if value.elements is not None else [value.element]
    return next((found for part in parts if (found := held_tensor(part)) is not None), None)


def note_cuda(frame: Frame, node: ir.Call) -> None:
    if type(node.function) is ir.Attribute and frame.function.owner and frame.function.name == node.function.name:
        # A method that overrides it hands the call on.
        return
    frame.emit(Effect.CUDA_HABIT, node.at, NONE, "moves", receiver_node(node), detail="raises without a GPU")
