"""Models that are given images as large as their files."""

from __future__ import annotations

from xlalint.facts.domain.refinement import as_operand
from xlalint.facts.domain.values import UNKNOWN, Host, Instance, Module, Struct, Tensor, Value
from xlalint.facts.domain.variation import is_read_size
from xlalint.facts.events import Effect
from xlalint.facts.operations.members import is_module_class
from xlalint.facts.state.call import Call
from xlalint.facts.state.frame import Frame


def check_file_sizes(frame: Frame, callee: Value, call: Call) -> None:
    """``model(torch.from_numpy(cv2.imread(path)).to(device))``: told of the model, and of none of its parts."""
    for value, node in zip(call.arguments, call.node.arguments, strict=False):
        if type(value) is Host or value is UNKNOWN:
            continue
        known = as_operand(value)
        if type(known) is not Tensor or not is_read_size(known.varies) or not known.live:
            continue
        owner = frame.engine.program.owner(frame.function) if frame.function.owner else None
        if is_model(frame, callee) and (owner is None or not frame.engine.is_module_class(owner)):
            frame.emit(Effect.VARYING_BATCH, call.node.at, known, "file", node, certainty=1, varies=known.varies)
        return


def is_model(frame: Frame, callee: Value) -> bool:
    if isinstance(callee, (Instance, Struct)):
        return is_module_class(frame, callee.ir)
    return type(callee) is Module and (callee.name == "?" or callee.name.endswith("Sequential"))
