"""What is known where a line is evaluated: the values of its expressions, and where in the program it stands.

The table of expression handlers is replaced for one run, so that linting pays nothing for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xlalint.facts import domain as d
from xlalint.facts.engine import Engine
from xlalint.facts.expressions import EXPRESSIONS
from xlalint.facts.frame import Frame, span_of
from xlalint.facts.record import FunctionKey, RegionKey, function_key
from xlalint.program import ir

TOLD = (ir.Name, ir.Attribute, ir.Call, ir.Subscript, ir.Binary, ir.Unary, ir.Compare, ir.Boolean, ir.Conditional)


class Watch:
    """Collects, for one line of one file, each expression's values and the regions that it is evaluated in."""

    def __init__(self, path: str, line: int) -> None:
        self.path = path
        self.line = line
        self.values: dict[int, list[d.Value]] = {}
        self.regions: dict[tuple[FunctionKey, RegionKey], None] = {}

    def on(self, engine: Engine) -> None:
        engine.expressions = {kind: self.around(handler) for kind, handler in EXPRESSIONS.items()}

    def around(self, handler: Callable[[Frame, Any], d.Value]) -> Callable[[Frame, Any], d.Value]:
        def watched(frame: Frame, node: Any) -> d.Value:
            value = handler(frame, node)
            at = span_of(node)
            if at and frame.path == self.path and not frame.quiet and ir.unpack(at)[0] == self.line:
                self.note(frame, node, value)
            return value

        return watched

    def note(self, frame: Frame, node: ir.Expr, value: d.Value) -> None:
        self.regions[function_key(frame.function), frame.region] = None
        if isinstance(node, TOLD):
            self.values.setdefault(node.at, []).append(value)

    def joined(self) -> dict[int, d.Value]:
        """By packed span: what an expression is, in all contexts where something is known of it."""
        return {
            at: d.joins([value for value in values if value is not d.UNKNOWN])
            for at, values in sorted(self.values.items())
        }
