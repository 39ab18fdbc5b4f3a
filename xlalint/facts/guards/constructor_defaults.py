"""Tests on what a constructor keeps: how they end where all calls of it leave the parameters out, as is known later."""

from __future__ import annotations

from xlalint.facts.records import DefaultTest
from xlalint.facts.state.frame import Frame
from xlalint.program import ir
from xlalint.program.kept_defaults import outcome_by_default


def note_default(frame: Frame, node: ir.If) -> None:
    """``if self.mode == "mean"``, of which nothing else is known."""
    cls = frame.engine.program.owner(frame.function)
    told = outcome_by_default(cls, node.test) if cls is not None else None
    if cls is None or told is None:
        return
    frame.tests_of_defaults.add(node.at)
    frame.record.default_tests[DefaultTest(node.at, cls.qualname, told)] = None
