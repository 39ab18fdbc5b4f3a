"""Logging methods that a class inherits from its framework: which keep tensors on the device, and which read them.

Lightning's ``self.log`` keeps a tensor where it is, but for the progress bar, which shows numbers, and for the other
processes. The ``log`` of transformers' trainer prints what it is given.
"""

from __future__ import annotations

from xlalint.facts.detectors.text_reads import printed, shown_tensor
from xlalint.facts.domain.declared import is_a
from xlalint.facts.domain.values import NONE, TRUE
from xlalint.facts.events import Effect
from xlalint.facts.state.call import Call
from xlalint.facts.state.frame import Frame
from xlalint.knowledge.tables import frameworks, positions_in

BY_THE_STEP = "by the step"
"""Form of a read that only a training makes in each step, where nothing says how often: evaluations log sums."""
LOGGING = frozenset({"log", "log_dict", "print"})


def call_inherited_logging(
    frame: Frame,
    names: tuple[str, ...],
    call: Call,
) -> bool:
    """Whether a method is one of a framework's that log. ``names`` are those of the object's class and its bases."""
    row = row_of(names, call.name)
    if row is None:
        return False
    if call.name == "print":
        printed(frame, "print", call)
        return True
    shown, *_ = row
    given = {key: call.arguments[at] for key, at in row.items() if at < len(call.arguments)} | call.keywords
    by_step = given.get("on_step", NONE)
    if by_step not in (NONE, TRUE):
        return True
    form = BY_THE_STEP if "on_step" in row and by_step is NONE else ""
    known = shown_tensor(given.get(shown, NONE))
    if given.get("sync_dist") is TRUE:
        detail = "is `mesh_reduce` on XLA, which pickles values and gathers them through the host"
        frame.emit(Effect.COLLECTIVE, call.node.at, NONE, call.name, None, certainty=1, detail=detail, form=form)
    elif ("prog_bar" not in row or given.get("prog_bar") is TRUE) and known is not None:
        frame.emit(Effect.LOGGED, call.node.at, known, call.name, None, form=form)
    return True


def row_of(names: tuple[str, ...], method: str) -> dict[str, int] | None:
    """The parameters that count, with their positions; what is logged comes first."""
    table = frameworks()
    for key in table.names("log-method"):
        owner, _, logs = key.rpartition(".")
        if logs == method and any(is_a(name, owner) for name in names):
            return positions_in(table.get("log-method", key) or "")
    return None
