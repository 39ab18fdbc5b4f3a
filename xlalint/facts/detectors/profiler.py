"""Profiler calls: a server that has to be kept, traces that have to end."""

from __future__ import annotations

from xlalint.facts.domain.values import NONE
from xlalint.facts.events import Effect
from xlalint.facts.kinds import SignKind
from xlalint.facts.state.call import Call
from xlalint.facts.state.frame import Frame
from xlalint.program import ir

PROFILER = "torch_xla.debug.profiler."


def note_profiler(frame: Frame, call: Call) -> None:
    if not call.name.startswith(PROFILER):
        return
    last = call.name[len(PROFILER) :]
    if last == "start_server":
        frame.sign(SignKind.PROFILER_SERVER, call.node.at)
        note_server(frame, call.node)
    elif last == "trace":
        if frame.loop_key() is not None:
            frame.emit(Effect.TRACE_MISUSE, call.node.at, NONE, "in-loop", None)
    elif last == "start_trace":
        frame.sign(SignKind.START_TRACE, call.node.at)
        if "stop_trace" not in frame.function.called:
            frame.emit(Effect.TRACE_MISUSE, call.node.at, NONE, "start-without-stop", None)


def note_server(frame: Frame, node: ir.Call) -> None:
    """The statement that makes the server decides: a bare call drops it, a local name may outlive too little."""
    kept = next((s for s in flat(frame.function.body) if getattr(s, "value", None) is node), None)
    if type(kept) is ir.Evaluate:
        trains = any(word in frame.function.called for word in ("backward", "step", "fit", "sync", "train"))
        form = "trains-here" if trains or frame.function.name == "<module>" else ""
        frame.emit(Effect.PROFILER_SERVER, node.at, NONE, "dropped", None, form=form)
    elif type(kept) is ir.Assign and frame.function.name != "<module>" and type(kept.targets[0]) is ir.Name:
        name = kept.targets[0].name
        if name in frame.globals or trains_here(frame) or returned(frame, name):
            return
        frame.emit(Effect.PROFILER_SERVER, node.at, NONE, "local", None)


def trains_here(frame: Frame) -> bool:
    return any(
        type(s) in (ir.For, ir.While) for s in flat(frame.function.body)
    ) or not frame.function.called.isdisjoint({"train", "fit", "backward", "sync", "mark_step", "launch", "spawn"})


def returned(frame: Frame, name: str) -> bool:
    for statement in flat(frame.function.body):
        if type(statement) is ir.Return and type(statement.value) is ir.Name and statement.value.name == name:
            return True
    return False


def flat(block: ir.Block) -> list[ir.Stmt]:
    """All statements of a block, inner ones included."""
    found: list[ir.Stmt] = []
    for statement in block:
        found.append(statement)
        for field in ("body", "orelse", "final"):
            inner = getattr(statement, field, None)
            if isinstance(inner, tuple):
                found.extend(flat(inner))
        for _, handler in getattr(statement, "handlers", ()):
            found.extend(flat(handler))
    return found
