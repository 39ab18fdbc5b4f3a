"""APIs that raise on XLA, were removed, or leave the work to the host: rows of ``unsupported.csv``."""

from __future__ import annotations

from xlalint.facts.detectors.fallbacks import argument
from xlalint.facts.domain.values import NONE, Host, Value
from xlalint.facts.events import Effect
from xlalint.facts.state.call import Call
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.conditions import UNKNOWN, Argument, decide, parse
from xlalint.knowledge.tables import Restriction, restrictions
from xlalint.program import ir
from xlalint.program.def_use import assignments_of
from xlalint.program.traversal import dotted_text


def check_restrictions(frame: Frame, call: Call) -> None:
    for row in restrictions().get(call.name, ()):
        if not is_refused(frame, row, call):
            continue
        if row.outcome == "free":
            return
        effect = Effect.UNSUPPORTED if row.effect == "unsupported" else Effect.CUDA_HABIT
        exception = row.exception.split("|")[0]
        if effect is Effect.CUDA_HABIT:
            detail = row.remark if row.outcome == "silent-host" else f"raises {exception}: {row.remark}"
            frame.emit(effect, call.node.at, NONE, row.outcome, None, detail=detail)
        else:
            detail = f"raises {exception}: {row.remark}" if row.outcome == "raises" else row.remark
            frame.emit(effect, call.node.at, NONE, call.name, None, detail=detail, form=row.fix)


def is_refused(frame: Frame, row: Restriction, call: Call) -> bool:
    if not row.condition:
        return True
    if "**" in call.keywords:
        return False
    if row.condition.startswith("cuda-or-cpu:"):
        return any(mentions_cuda_and_cpu(part) for part in call.node.arguments[:1])
    given = {name: value for name, value in call.node.keywords if name is not None}
    bound: dict[str, Argument] = {}
    for parameter, position in row.positions.items():
        if position < min(len(call.arguments), len(call.node.arguments)):
            bound[parameter] = as_told(frame, call.arguments[position], call.node.arguments[position])
    for parameter, value in call.keywords.items():
        bound[parameter] = as_told(frame, value, given.get(parameter))
    if row.effect == "cuda-habit" and "device=" in row.condition and not names_its_device(call.node):
        return False
    return decide(parse(row.condition), bound, {}) is True


def as_told(frame: Frame, value: Value, node: ir.Expr | None) -> Argument:
    """An argument as rows compare it: ``torch.bfloat16`` is a dtype of its own here, and a float elsewhere."""
    if type(value) is Host and value.type == "dtype" and value.known:
        if type(node) is ir.Name:
            bound = assignments_of(frame.function).get(frame.origins.get(node.name, 0))
            node = bound.value if bound is not None else node
        return Argument(value=dotted_text(node) if node is not None else UNKNOWN, tensor=False)
    return without_index(argument(value))


def names_its_device(node: ir.Call) -> bool:
    """A device in a name is a setting, which somebody has chosen; one that is written here is a habit."""
    given = [*node.arguments, *(value for _, value in node.keywords)]
    return any(type(part) is ir.Constant and str(part.value).startswith("cuda") for part in given)


def without_index(given: Argument) -> Argument:
    """``cuda:0`` is the device ``cuda``."""
    if isinstance(given.value, str) and given.value.startswith("cuda:"):
        return Argument(value="cuda", tensor=False)
    return given


def mentions_cuda_and_cpu(node: ir.Expr) -> bool:
    """``"cuda" if torch.cuda.is_available() else "cpu"``."""
    if type(node) is not ir.Conditional:
        return False
    arms = [part.value for part in (node.body, node.orelse) if type(part) is ir.Constant]
    return len(arms) == 2 and any(str(a).startswith("cuda") for a in arms) and "cpu" in arms
