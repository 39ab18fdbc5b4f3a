"""Process environment variables that change what the device computes, set by the program itself."""

from __future__ import annotations

from xlalint.facts.domain.values import NONE, Host, Mapping, Namespace, Value, constant
from xlalint.facts.events import Effect
from xlalint.facts.state.call import Call
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.tables import frameworks
from xlalint.program import ir

ENVIRONMENT = "os.environ"
OFF = ("0", "", "false", "False")


def check_assigned(frame: Frame, holder: Value, key: Value, value: Value, target: ir.Subscript) -> None:
    """``os.environ["XLA_USE_BF16"] = "1"``."""
    if type(holder) is Namespace and holder.name == ENVIRONMENT:
        check_variable(frame, key, value, target.at)


def check_set(frame: Frame, call: Call) -> None:
    """``os.environ.setdefault(…)``, ``os.putenv(…)``, ``os.environ.update(…)``."""
    if call.name in (f"{ENVIRONMENT}.setdefault", "os.putenv") and len(call.arguments) == 2:
        check_variable(frame, call.arguments[0], call.arguments[1], call.node.at)
    elif call.name == f"{ENVIRONMENT}.update":
        given = list(call.keywords.items())
        if call.arguments and type(call.arguments[0]) is Mapping:
            given += [(key, value) for key, value in call.arguments[0].items if isinstance(key, str)]
        for variable, value in given:
            check_variable(frame, constant(variable), value, call.node.at)


def check_variable(frame: Frame, key: Value, value: Value, at: int) -> None:
    variable = key.constant if type(key) is Host and key.known else None
    if not isinstance(variable, str) or (type(value) is Host and value.known and value.constant in OFF):
        return
    remark = frameworks().get("environment", variable)
    if remark is not None:
        frame.emit(Effect.LOW_PRECISION, at, NONE, variable, None, detail=remark)
