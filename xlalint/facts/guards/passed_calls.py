"""Calls in arms that do not run: what they alone call does not run either."""

from __future__ import annotations

import functools

from xlalint.facts.kinds import SignKind
from xlalint.facts.records import function_key
from xlalint.facts.regions import subject_of
from xlalint.facts.state.frame import Frame
from xlalint.program import ir
from xlalint.program.traversal import calls_in


def note_passed_calls(frame: Frame, block: ir.Block) -> None:
    """``if torch.cuda.is_available(): self._cuda()``. Whether other calls lead there is known later."""
    for call in calls_of(block):
        function = callee_by_text(frame, call.function)
        if function is not None:
            frame.sign(SignKind.PASSED_CALL, call.at, subject_of(function_key(function)))


@functools.lru_cache(maxsize=8192)
def calls_of(block: ir.Block) -> tuple[ir.Call, ...]:
    return tuple(calls_in(block))


def callee_by_text(frame: Frame, node: ir.Expr) -> ir.FunctionIR | None:
    """The function of the program that a call names, or the method of the own class."""
    program = frame.engine.program
    if type(node) is ir.Attribute and type(node.value) is ir.Name and node.value.name == "self":
        owner = program.owner(frame.function)
        return None if owner is None else program.method(owner, node.name)
    symbol = program.expression_symbol(node, frame.path)
    return symbol if isinstance(symbol, ir.FunctionIR) else None
