"""A record of the abstract value of every expression of some files; stand-ins are generated from it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from xlalint.facts.domain.lattice import join_all
from xlalint.facts.domain.values import UNKNOWN, Value
from xlalint.facts.driver.analysis import AssumptionsOf, workspace_of
from xlalint.facts.driver.called_names import called_in
from xlalint.facts.driver.partition import Partition
from xlalint.facts.driver.workspace import absolute
from xlalint.facts.events import Span
from xlalint.facts.explain.probe import LineProbe
from xlalint.facts.state.frame import Frame
from xlalint.facts.state.recorder import span_of
from xlalint.program import ir
from xlalint.program.link import GlobalName, Program
from xlalint.sources.source import Source


class ValueRecorder(LineProbe):
    """Collects the values of every line of some files."""

    def __init__(self, paths: Iterable[str]) -> None:
        super().__init__(())
        self.seen_in = frozenset(paths)
        self.program: Program | None = None
        self.seen: dict[tuple[str, int], list[Value]] = {}

    def around(self, handler: Any) -> Any:
        def watched(frame: Frame, node: Any) -> Value:
            value: Value = handler(frame, node)
            at = span_of(node)
            if at and value is not UNKNOWN and frame.path in self.seen_in:
                kept = self.seen.setdefault((frame.path, at), [])
                if value not in kept:
                    kept.append(value)
            return value

        return watched

    def value(self, path: str, spans: Iterable[Span]) -> Value:
        """What is known of an expression, at the first of its places where something is."""
        for span in spans:
            at = ir.pack(span.line, span.column, span.end_line, span.end_column)
            kept = self.seen.get((absolute(path), at))
            if kept:
                return join_all(kept)
        return UNKNOWN

    def resolve(self, path: str, name: str) -> tuple[str, str] | None:
        """Which file of the run defines what a file knows as ``name``, and under which name."""
        found = self.program.resolve(absolute(path), name) if self.program is not None else None
        if isinstance(found, (ir.FunctionIR, ir.ClassIR)):
            return found.module, found.name
        return (found.module.path, found.name) if isinstance(found, GlobalName) else None


def recorded_values(sources: Iterable[Source], assumptions: AssumptionsOf) -> ValueRecorder:
    """The values of ``sources``, evaluated together."""
    workspace = workspace_of(sources, assumptions)
    part = Partition(workspace, workspace.sources)
    index = part.lower()
    engine = part.engine(called_in([index]))
    seen = ValueRecorder(workspace.sources)
    seen.on(engine)
    seen.program = engine.program
    part.evaluate_with(engine, part.own)
    return seen
