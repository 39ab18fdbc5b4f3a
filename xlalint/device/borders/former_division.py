"""Division as Python 2 had it: of whole numbers, a whole number. Imports nothing heavy.

`size[: width / 2]` raises today. Where a rehearsal of a file that Python 2 could read fails by that, the program's own
quotients are whole.
"""

from __future__ import annotations

import ast
import re
from typing import Any

from xlalint.device.borders.clock import Clock

_FAILS = re.compile(
    r"slice indices must be integers|'float' object cannot be interpreted|integer argument expected|non-int of type"
    r"|ints?, ?but (got|found).*float|should be of type int|must be (tuple of ints|int), not float"
    r"|indices must be integers or slices, not float|only integers, slices|got \(?float|'numpy.float64' object cannot"
)
_LATER = (ast.JoinedStr, ast.AnnAssign, ast.AsyncFunctionDef, ast.Await, ast.Nonlocal, ast.YieldFrom, ast.NamedExpr)
_DIVISION = "division"


class Quotients:
    """Of one script."""

    def __init__(self, clock: Clock, known: bool | None) -> None:
        """``known`` is what a rehearsal has found, None for nothing."""
        self._clock, self.are_whole = clock, known
        self._is_open = known is None

    def of(self, dividend: Any, divisor: Any) -> Any:
        """What stands for `dividend / divisor` in a file that Python 2 could read."""
        if type(dividend) is not int or type(divisor) is not int or not divisor:
            return dividend / divisor
        if self._is_open:
            self._is_open = False
            rehearsal = self._clock.rehearsal
            way = None if rehearsal is None else rehearsal.wanted(2, _FAILS)
            self.are_whole = None if way is None else bool(way)
        if not self.are_whole:
            return dividend / divisor
        self._clock.assume("`/` of whole numbers gives a whole number, as in Python 2")
        return dividend // divisor


def is_python_2(tree: ast.Module) -> bool:
    """Whether Python 2 could read a file, and divided there as it used to."""
    for node in ast.walk(tree):
        if isinstance(node, _LATER) or (isinstance(node, ast.arg) and node.annotation is not None):
            return False
        if isinstance(node, ast.FunctionDef) and (node.returns is not None or node.args.kwonlyargs):
            return False
        if isinstance(node, ast.ImportFrom) and node.module == "__future__" and _divides_truly(node):
            return False
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super" and not node.args:
            return False
    return True


def _divides_truly(future: ast.ImportFrom) -> bool:
    return any(alias.name == _DIVISION for alias in future.names)
