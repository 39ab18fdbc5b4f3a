"""A stretch of a run: what happened in it, and what ended it. Pure data."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Final

import msgspec

from xlalint.device.recording.counts import Amounts, Counts

Place = tuple[str, int]
"""Path and line."""
BOUNDARY: Final = "boundary"
UPDATE: Final = "update"
MARK: Final = "mark"


class Compiled(msgspec.Struct, frozen=True):
    """A graph that was compiled."""

    at: Place | None
    inputs: int
    outputs: int
    below: Place | None = None
    """The line of a library."""
    memory: dict[str, float] = {}


class Step(msgspec.Struct, frozen=True):
    """What happened in one stretch. Lines by path and number; None is what no line explains."""

    lines: dict[Place | None, Counts] = {}
    amounts: dict[Place | None, Amounts] = {}
    library: dict[tuple[Place, Place], Counts] = {}
    """By the user's line and the library's line below it."""
    compiled: list[Compiled] = []
    early: dict[Place | None, int] = {}
    """Graphs that ran because a line wanted a value before the boundary."""
    updates: int = 0
    """Steps of optimizers."""
    ended: float = 0
    """In seconds of the clock; 0 where times were not recorded."""

    @property
    def counts(self) -> Counts:
        return sum(self.lines.values(), Counts())

    @property
    def executes(self) -> bool:
        return any(counts.executions for counts in self.lines.values())


class End(msgspec.Struct, frozen=True):
    """What ends a stretch: a boundary by its site, an optimizer by its number, or the user's mark."""

    kind: str
    key: Hashable


class Segment(msgspec.Struct, frozen=True):
    step: Step
    end: End


def joined(steps: Iterable[Step]) -> Step:
    """One stretch of several."""
    parts = list(steps)
    whole = Step(updates=sum(step.updates for step in parts), ended=max((step.ended for step in parts), default=0))
    for step in parts:
        for place, counts in step.lines.items():
            whole.lines[place] = whole.lines.get(place, Counts()) + counts
        for place, amounts in step.amounts.items():
            whole.amounts[place] = whole.amounts.get(place, Amounts()) + amounts
        for key, counts in step.library.items():
            whole.library[key] = whole.library.get(key, Counts()) + counts
        for place, count in step.early.items():
            whole.early[place] = whole.early.get(place, 0) + count
        whole.compiled.extend(step.compiled)
    return whole


def updated(one: Segment) -> Step:
    """The stretch, with the update that ended it."""
    return msgspec.structs.replace(one.step, updates=one.step.updates + 1) if one.end.kind == UPDATE else one.step
