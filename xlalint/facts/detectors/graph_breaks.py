"""Functions compiled by ``torch.compile(backend="openxla")``, and the calls that break their graphs."""

from __future__ import annotations

from collections.abc import Iterable

from xlalint.facts.domain.values import NONE, Function, Host, Instance, Struct, Value
from xlalint.facts.events import Effect
from xlalint.facts.kinds import SignKind
from xlalint.facts.records import function_key
from xlalint.facts.regions import subject_of
from xlalint.facts.state.call import Call
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.tables import frameworks
from xlalint.program import ir

OPENXLA = "openxla"
TURNED_OFF = frozenset({"disable", "dynamo_disable"})


def note_compiled(frame: Frame, call: Call) -> None:
    """``torch.compile(f, backend="openxla")``, of a function or a model of the program."""
    backend = call.keywords.get("backend")
    if not (type(backend) is Host and backend.constant == OPENXLA) or not call.arguments:
        return
    frame.emit(
        Effect.COMPILED_PART,
        call.node.at,
        NONE,
        "torch.compile",
        call.node.arguments[0] if call.node.arguments else None,
    )
    function = function_of(frame, call.arguments[0])
    if function is not None:
        frame.sign(SignKind.COMPILED, call.node.at, subject_of(function_key(function)))


def function_of(frame: Frame, value: Value) -> ir.FunctionIR | None:
    if type(value) is Function:
        return value.ir
    if isinstance(value, (Instance, Struct)):
        return frame.engine.program.method(value.ir, "forward")
    return None


def note_decorated(frame: Frame, function: ir.FunctionIR) -> None:
    """``@torch.compile(backend="openxla")``."""
    for decorator in function.decorators:
        if type(decorator) is not ir.Call or type(decorator.function) is not ir.Attribute:
            continue
        holder, backend = decorator.function.value, dict(decorator.keywords).get("backend")
        named = type(holder) is ir.Name and holder.name == "torch" and decorator.function.name == "compile"
        if named and type(backend) is ir.Constant and backend.value == OPENXLA:
            frame.sign(SignKind.COMPILED, function.at, subject_of(function_key(function)))


def check_break(frame: Frame, subject: str, node: ir.Call) -> None:
    """A call that no graph can hold; whether it stands in a compiled function is known later."""
    frame.emit(Effect.GRAPH_BREAK, node.at, NONE, subject, None)


def check_external(frame: Frame, name: str, node: ir.Call) -> None:
    """A function of another package that no graph can hold."""
    if name in frameworks().names("graph-break"):
        check_break(frame, name, node)


def is_turned_off(decorators: Iterable[str]) -> bool:
    """``@torch.compiler.disable``."""
    return not TURNED_OFF.isdisjoint(decorators)
