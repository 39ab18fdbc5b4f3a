"""A probe at some lines: the values of their expressions, and where in the program they stand.

The table of expression handlers is replaced for one run, so that linting pays nothing for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from xlalint.facts.domain.lattice import join_all
from xlalint.facts.domain.values import UNKNOWN, Value
from xlalint.facts.engine.engine import Engine
from xlalint.facts.interpreter.expressions import EXPRESSIONS
from xlalint.facts.records import FunctionKey, RegionKey, function_key
from xlalint.facts.state.frame import Frame
from xlalint.facts.state.recorder import span_of
from xlalint.program import ir

TOLD = (ir.Name, ir.Attribute, ir.Call, ir.Subscript, ir.Binary, ir.Unary, ir.Compare, ir.Boolean, ir.Conditional)


class LineProbe:
    """Collects, for some lines of some files, each expression's values and the regions that it is evaluated in."""

    def __init__(self, lines: Iterable[tuple[str, int]]) -> None:
        self.lines = {place: Line() for place in lines}
        self.paths = frozenset(path for path, _ in self.lines)

    def on(self, engine: Engine) -> None:
        engine.expressions = {kind: self.around(handler) for kind, handler in EXPRESSIONS.items()}

    def around(self, handler: Callable[[Frame, Any], Value]) -> Callable[[Frame, Any], Value]:
        def watched(frame: Frame, node: Any) -> Value:
            value = handler(frame, node)
            at = span_of(node)
            if at and frame.path in self.paths and not frame.quiet:
                line = self.lines.get((frame.path, ir.unpack(at)[0]))
                if line is not None:
                    line.note(frame, node, value)
            return value

        return watched


class Line:
    """What is known of one line."""

    def __init__(self) -> None:
        self.values: dict[int, list[Value]] = {}
        self.regions: dict[tuple[FunctionKey, RegionKey], None] = {}

    def note(self, frame: Frame, node: ir.Expr, value: Value) -> None:
        self.regions[function_key(frame.function), frame.region] = None
        if isinstance(node, TOLD):
            self.values.setdefault(node.at, []).append(value)

    def joined(self) -> dict[int, Value]:
        """By packed span: what an expression is, in all contexts where something is known of it."""
        return {
            at: join_all([value for value in values if value is not UNKNOWN])
            for at, values in sorted(self.values.items())
        }
