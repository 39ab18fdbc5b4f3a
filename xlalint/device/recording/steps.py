"""Which stretches of a run are its steps: by the user's own mark, by optimizers, or by boundaries that recur. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from xlalint.device.recording.cycles import by_cycle
from xlalint.device.recording.stretches import BOUNDARY, MARK, UPDATE, End, Segment, Step, joined, updated
from xlalint.device.recording.updates import by_update


class Steps(msgspec.Struct, frozen=True):
    steps: tuple[Step, ...]
    rest: Step
    unbounded: int = 0
    """How many no boundary ended, only an optimizer."""


def steps_of(segments: Sequence[Segment], rest: Step, is_cut: bool = False) -> Steps:
    """``rest`` is what came after the last of ``segments``; a log that is cut short ends in the midst of it."""
    if any(one.end.kind == MARK for one in segments):
        return _by_mark(segments, rest)
    bounded, rest = _that_ran_something(segments, rest)
    if any(one.end.kind == UPDATE for one in bounded):
        found = by_update(bounded, rest, is_cut)
        if found is not None:
            return Steps(*found)
        bounded, rest = _without_updates(bounded, rest)
    steps, left = by_cycle(bounded)
    return Steps(tuple(steps), joined([*left, rest]))


def _by_mark(segments: Sequence[Segment], rest: Step) -> Steps:
    """From one mark to the next. The first has what comes before it, and each what ran nothing before it."""
    steps: list[Step] = []
    pending: list[Step] = []
    marks = 0
    for one in (*segments, Segment(rest, End(MARK, None))):
        pending.append(updated(one))
        marks += one.end.kind == MARK
        if one.end.kind == MARK and marks > 1 and any(step.executes for step in pending):
            steps.append(joined(pending))
            pending = []
    return Steps(tuple(steps), joined(pending))


def _that_ran_something(segments: Sequence[Segment], rest: Step) -> tuple[list[Segment], Step]:
    """Without the boundaries behind which nothing ran: some libraries set one at each end."""
    kept: list[Segment] = []
    pending: list[Step] = []
    ran = False
    for one in segments:
        ran = ran or one.step.executes
        pending.append(one.step)
        if one.end.kind == UPDATE or ran:
            kept.append(Segment(joined(pending), one.end))
            pending = []
        if one.end.kind == BOUNDARY and ran:
            ran = False
    return kept, joined([*pending, rest])


def _without_updates(segments: Sequence[Segment], rest: Step) -> tuple[list[Segment], Step]:
    kept: list[Segment] = []
    pending: list[Step] = []
    for one in segments:
        pending.append(updated(one))
        if one.end.kind == BOUNDARY:
            kept.append(Segment(joined(pending), one.end))
            pending = []
    return kept, joined([*pending, rest])
