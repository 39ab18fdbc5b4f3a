"""Tests that a mark skips where there is no GPU: ``@pytest.mark.skipif(not torch.cuda.is_available(), …)``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from xlalint.facts.domain.values import truth_value
from xlalint.facts.state.environment import Environment
from xlalint.facts.state.frame import Evaluator, Frame
from xlalint.facts.state.memo import Budget
from xlalint.program import ir
from xlalint.program.link import External, GlobalName

MARKS: Final[dict[str, bool]] = {
    "pytest.mark.skip": True,
    "pytest.mark.skipif": True,
    "unittest.skip": True,
    "unittest.skipIf": True,
    "unittest.skipUnless": False,
}
"""The outcome of its condition for which a mark skips what it stands at; one without a condition always does."""
OF_FILE = "pytestmark"
MOST_NAMES = 4
"""How many names a mark is followed through."""


class SkippedTests:
    """Which functions run on no XLA device, since a mark at them or around them skips them there."""

    def __init__(self, engine: Evaluator) -> None:
        self.engine = engine
        self._by_file: dict[str, tuple[str, ...]] = {}

    def holds(self, function: ir.FunctionIR) -> bool:
        module = self.engine.program.module(function.module)
        if module is None or function is module.body:
            return False
        skipped = self._by_file.get(module.path)
        if skipped is None:
            skipped = self._by_file[module.path] = tuple(self.skipped_in(module))
        return any(f"{function.qualname}.".startswith(name) for name in skipped)

    def skipped_in(self, module: ir.ModuleIR) -> Iterator[str]:
        """How the names of all functions begin that are skipped; empty where the file is as a whole."""
        if any(self.skips(mark, module) for mark in module.globals.get(OF_FILE, ())):
            yield ""
        marked: list[ir.FunctionIR | ir.ClassIR] = [*module.everything, *module.classes.values()]
        for one in marked:
            if any(self.skips(mark, module) for mark in one.decorators):
                yield f"{one.qualname}."

    def skips(self, mark: ir.Expr, module: ir.ModuleIR, names: int = MOST_NAMES) -> bool:
        if type(mark) is ir.Display:
            return any(self.skips(part, module, names) for part in mark.elements)
        node = mark.function if type(mark) is ir.Call else mark
        symbol = self.engine.program.expression_symbol(node, module.path)
        if isinstance(symbol, GlobalName) and type(mark) is not ir.Call and names > 0:
            bound = symbol.module.globals.get(symbol.name, ())
            return len(bound) == 1 and self.skips(bound[0], symbol.module, names - 1)
        if not isinstance(symbol, External) or symbol.name not in MARKS:
            return False
        if type(mark) is not ir.Call or symbol.name.endswith("skip"):
            return symbol.name.endswith("skip")
        condition = next(iter(conditions_of(mark)), None)
        return condition is not None and self.outcome(condition, module) is MARKS[symbol.name]

    def outcome(self, condition: ir.Expr, module: ir.ModuleIR) -> bool | None:
        frame = Frame(self.engine, module.body, Environment(), None, Budget(1, 1))
        frame.quiet = 1
        return truth_value(frame.evaluate(condition))


def conditions_of(mark: ir.Call) -> Iterable[ir.Expr]:
    return (*mark.arguments, *(value for name, value in mark.keywords if name == "condition"))
