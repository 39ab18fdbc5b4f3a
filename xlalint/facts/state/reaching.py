"""Reaching definitions: the assignment that last gave a name its value."""

from __future__ import annotations

from xlalint.facts.state.frame import Frame
from xlalint.program import ir
from xlalint.program.def_use import assignments_of


def assignment_of(frame: Frame, name: str) -> ir.Assign | None:
    """The statement that last gave a name its value, if it is an assignment."""
    return assignments_of(frame.function).get(frame.origins.get(name, 0))
