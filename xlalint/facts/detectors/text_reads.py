"""Host reads by text: printing, formatting and logging of tensors."""

from __future__ import annotations

from xlalint.facts.detectors.graph_breaks import check_break
from xlalint.facts.domain.values import (
    Instance,
    Mapping,
    Sequence,
    Struct,
    Tensor,
    Value,
    function_value,
    surely_tensor,
    tensor,
    tensor_of,
)
from xlalint.facts.events import Effect
from xlalint.facts.operations.members import element_of
from xlalint.facts.state.call import Call
from xlalint.facts.state.frame import Frame
from xlalint.program import ir

SILENT_LEVELS = frozenset({"debug"})


def shown_tensor(value: Value) -> Tensor | None:
    """The device tensor that printing the value prints: itself, or one in a container."""
    known = tensor_of(value)
    if known is not None:
        return known if known.live and surely_tensor(value) else None
    if type(value) is Sequence and value.elements != ():
        parts = value.elements if value.elements is not None else (value.element,)
        return next((t for part in parts if (t := shown_tensor(part)) is not None), None)
    if type(value) is Mapping:
        return next((t for _, part in value.items if (t := shown_tensor(part)) is not None), None)
    return None


def shown_at(frame: Frame, value: Value, node: ir.Expr | None) -> Tensor | None:
    """The same of an expression. ``(step, *losses)`` shows what its parts show, each of which is known better than what
    all of them have in common."""
    known = shown_tensor(value)
    if known is not None or not is_spread(node):
        return known
    frame.quiet += 1
    shown = (shown_at(frame, part_value(frame, part), part) for part in terms_of(node))
    known = next((one for one in shown if one is not None), None)
    frame.quiet -= 1
    return known


def is_spread(node: ir.Expr | None) -> bool:
    """``(a, *b)``, or a sum with such a part or a call: ``(a,) + tuple(b)``."""
    if type(node) is ir.Binary and node.operator == "add":
        return any(type(part) is ir.Call or is_spread(part) for part in terms_of(node))
    return type(node) is ir.Display and any(type(part) is ir.Starred for part in node.elements)


def terms_of(node: ir.Expr | None) -> tuple[ir.Expr, ...]:
    return node.elements if type(node) is ir.Display else (node.left, node.right) if type(node) is ir.Binary else ()


def part_value(frame: Frame, part: ir.Expr) -> Value:
    value = frame.evaluate(part)
    return element_of(frame, value) if type(part) is ir.Starred else value


def read_by_text(
    frame: Frame,
    value: Value,
    at: int,
    subject: str,
    operand: ir.Expr | None,
    effect: Effect = Effect.PRINTED,
    form: str = "",
) -> None:
    known = shown_at(frame, value, operand)
    if known is not None:
        frame.emit(effect, at, known, subject, operand, form=form)
    elif isinstance(value, (Struct, Instance)):
        for name in ("__str__", "__repr__", "__format__"):
            method = frame.engine.program.method(value.ir, name)
            if method is not None:
                frame.engine.call(frame, function_value(method, value), [], {}, at)
                return


def printed(frame: Frame, subject: str, call: Call) -> None:
    for value, argument in zip(call.arguments, call.node.arguments, strict=False):
        if type(argument) is not ir.FString:
            known = shown_at(frame, value, argument)
            if known is not None:
                frame.emit(Effect.PRINTED, call.node.at, known, subject, argument, form=print_form(call.node))
                return
            read_by_text(frame, value, call.node.at, subject, argument)


def print_form(node: ir.Call) -> str:
    return "name" if len(node.arguments) == 1 and type(node.arguments[0]) is ir.Name else ""


def logged(frame: Frame, call: Call) -> None:
    read_by_log(frame, call)
    check_break(frame, call.last, call.node)


def read_by_log(frame: Frame, call: Call) -> None:
    """A logging call. Its ``%s`` arguments are formatted only where the level is on; ``debug`` is taken for off."""
    fields = {field.at for argument in call.node.arguments if type(argument) is ir.FString for field in argument.fields}
    for at in fields:
        event = frame.record.events.get((at, ""))
        if event is not None and event.effect is Effect.PRINTED:
            del frame.record.events[at, ""]
            frame.emit(
                Effect.LOGGED,
                call.node.at,
                tensor(),
                call.last,
                None,
                form="debug-fstring" if call.last == "debug" else "",
            )
    if call.last in SILENT_LEVELS:
        return
    for value, argument in zip(call.arguments, call.node.arguments, strict=False):
        known = shown_at(frame, value, argument)
        if known is not None:
            frame.emit(Effect.LOGGED, call.node.at, known, call.last, argument)
            return
