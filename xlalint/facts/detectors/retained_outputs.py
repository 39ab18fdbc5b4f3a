"""Outputs that an evaluation retains together with the autograd graph that made them."""

from __future__ import annotations

from xlalint.facts.domain.refinement import as_operand
from xlalint.facts.domain.values import Value, tensor_of
from xlalint.facts.events import Effect
from xlalint.facts.state.frame import Frame
from xlalint.program import ir
from xlalint.program.traversal import receiver_node

SWITCH = "set_grad_enabled"
"""Where a program calls it, nobody knows in which parts of it gradients flow."""


def check_kept(frame: Frame, value: Value, node: ir.Call) -> None:
    """``outputs.append(model(x))`` in a loop, to a list that outlives the step."""
    known = tensor_of(as_operand(value))
    loop = frame.loop_key()
    if known is None or loop is None or frame.no_grad or not (known.grad and known.live) or not node.arguments:
        return
    holder = receiver_node(node)
    bound = frame.bound_on(holder.name) if type(holder) is ir.Name else 0
    if 0 < bound < loop[2] and SWITCH not in frame.engine.program.called:
        kept = node.arguments[-1]
        frame.emit(Effect.KEPT_OUTPUT, getattr(kept, "at", node.at), known, "append", kept, varies=loop)
