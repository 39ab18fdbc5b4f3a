"""Kinds of functions, by their text: helpers and layers, scripted and traced ones, those without gradients."""

from __future__ import annotations

from xlalint.program import ir
from xlalint.program.traversal import decorator_names, last_name

SHORT = 6
"""Statements of a function that is still evaluated at the end of the budget of calls. Longer ones were a tenth of the
time and told nothing that the truth could confirm, but for the layers of a model."""
NO_GRAD_DECORATORS = frozenset({"no_grad", "inference_mode"})


def is_close(function: ir.FunctionIR) -> bool:
    """A helper, or a layer's ``forward``: what belongs to the caller however it is cut into functions."""
    return len(function.body) <= SHORT or function.name == "forward"


def is_scripted(function: ir.FunctionIR) -> bool:
    """``@torch.jit.script``: nobody sees who runs it where no call in sight does, and a runtime may, on the host."""
    return "script" in decorator_names(function)


def is_vmapped(function: ir.FunctionIR) -> bool:
    """A mask or a score of ``flex_attention``, which is traced for all indices at once and never runs by itself."""
    return {parameter.name for parameter in function.parameters} >= INDICES


INDICES = frozenset({"q_idx", "kv_idx"})


def is_without_grad(function: ir.FunctionIR) -> bool:
    return not decorator_names(function).isdisjoint(NO_GRAD_DECORATORS)


def is_fixture(function: ir.FunctionIR) -> bool:
    """``@pytest.fixture``: what it does is done for the tests that ask for it, and for no other."""
    marks = (one.function if type(one) is ir.Call else one for one in function.decorators)
    return any(last_name(mark) == "fixture" for mark in marks) and not any(
        type(one) is ir.Call and any(name == "autouse" for name, _ in one.keywords) for one in function.decorators
    )
