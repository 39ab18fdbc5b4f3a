"""Calls that give something else than a signature promises: where all in sight do, the promise does not count."""

from __future__ import annotations

from xlalint.facts.domain.values import (
    DECLARED,
    HOST,
    NONE,
    Host,
    Mapping,
    Sequence,
    Tensor,
    Value,
    tensor_of,
)
from xlalint.facts.engine.binding import by_signature, is_forward
from xlalint.facts.records import Arm
from xlalint.facts.state.environment import Environment
from xlalint.facts.state.frame import Evaluator
from xlalint.program import ir

SIGNATURE: Arm = (0, True)
"""As if there were a test of whether the arguments are what the signature promises."""
TESTS = ("test_", "tests/", "_test.py", "conftest.py")


class Contradictions:
    """What calls give, of the parameters that are promised to be tensors of the device."""

    def __init__(self, engine: Evaluator) -> None:
        self.engine = engine
        self.promises: dict[ir.FunctionIR, tuple[tuple[str, Value], ...]] = {}

    def promised(self, function: ir.FunctionIR) -> tuple[tuple[str, Value], ...]:
        """None of a model's ``forward``, which a framework calls, whatever a demonstration gives it."""
        known = self.promises.get(function)
        if known is None:
            parameters = () if is_forward(function) else function.parameters
            told = [(p.name, by_signature(self.engine, function, p)) for p in parameters if p.kind == "positional"]
            known = self.promises[function] = tuple((name, value) for name, value in told if is_on_device(value))
        return known

    def outcome(self, caller: ir.FunctionIR, function: ir.FunctionIR, environment: Environment) -> Arm | None:
        """Whether a call gives what is promised; a demonstration, or a test, shows nothing of other calls."""
        promised = self.promised(function)
        if not promised or caller.name == "<module>" or is_test(caller):
            return None
        return (0, not any(contradicts(environment.get(name), value) for name, value in promised))


def is_test(function: ir.FunctionIR) -> bool:
    return function.name.startswith("test") or any(part in function.module for part in TESTS)


def is_on_device(value: Value) -> bool:
    if type(value) is Mapping:
        return value.rest is not None and is_on_device(value.rest)
    if type(value) is Sequence:
        return is_on_device(value.element)
    known = tensor_of(value)
    return known is not None and known.live


def contradicts(given: Value | None, promised: Value) -> bool:
    """Host values, and tensors that are known to lie on the host, in place of tensors of the device."""
    if given is None or given is NONE:
        return False
    if type(given) is Tensor:
        return given.device == HOST and given.certainty >= DECLARED
    if type(given) is Host:
        return given.type in ("int", "float", "bool", "str", "numpy")
    if type(given) is Mapping and type(promised) is Mapping and promised.rest is not None:
        parts = [part for _, part in given.items] + ([] if given.rest is None else [given.rest])
        return bool(parts) and all(contradicts(part, promised.rest) for part in parts)
    if type(given) is Sequence:
        inner = promised.element if type(promised) is Sequence else promised
        return contradicts(given.element, inner)
    return False
