"""Steps by the optimizer's. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Sequence
from typing import Final

import msgspec

from xlalint.device.recording.cycles import by_cycle
from xlalint.device.recording.stretches import BOUNDARY, UPDATE, Segment, Step, joined, updated

_MOSTLY: Final = 0.8
_MOST_OPTIMIZERS: Final = 20
"""With more, each is taken for one that is made anew for each step."""


def by_update(segments: Sequence[Segment], rest: Step, is_cut: bool) -> tuple[tuple[Step, ...], Step, int] | None:
    """The steps, what is left, and how many no boundary ended. None where there are fewer than two updates.

    Where the log is cut short, its last step has an end only if a boundary says so.

    A step ends at a boundary behind its update: at the one that is passed once behind each, else at the first.
    Boundaries that recur between two updates and not between others are those of another loop, an evaluation, say.
    """
    main = _main_optimizers([one.end.key for one in segments if one.end.kind == UPDATE])
    ends = [number for number, one in enumerate(segments) if one.end.kind == UPDATE and one.end.key in main]
    if len(ends) < 2:
        return None
    starts = [0, *(end + 1 for end in ends)]
    gaps = [segments[start:end] for start, end in zip(starts, [*ends, len(segments)], strict=True)]
    sites = _Sites.of(gaps)
    steps, pending = _other_loops(gaps[0], sites)
    unbounded = 0
    for number, (end, gap) in enumerate(zip(ends, gaps[1:], strict=True), 1):
        cut = _cut(gap, sites, is_last=number == len(ends))
        bounded = any(one.end.kind == BOUNDARY for one in gap)
        if is_cut and not bounded and number == len(ends) > unbounded + 1:
            pending = [*pending, updated(segments[end]), *map(updated, gap)]
            break
        unbounded += not bounded
        steps.append(joined([*pending, updated(segments[end]), *map(updated, gap[:cut])]))
        others, pending = _other_loops(gap[cut:], sites)
        steps += others
    rest = joined([*pending, rest])
    if unbounded == len(ends) and rest.executes and not steps[0].executes:
        # Each update is run by what follows it, so that is a part of its step.
        steps, rest = [joined(steps[:2]), *steps[2:], rest], Step()
    return tuple(steps), rest, unbounded


class _Sites(msgspec.Struct, frozen=True):
    """What the boundaries between updates have in common."""

    foreign: Collection[Hashable]
    """Those of another loop."""
    regular: Hashable | None
    """The one that is passed once behind each update."""
    known: Collection[Hashable]

    @classmethod
    def of(cls, gaps: Sequence[Sequence[Segment]]) -> _Sites:
        counted = [Counter(one.end.key for one in gap if one.end.kind == BOUNDARY) for gap in gaps]
        present = Counter(site for sites in counted for site in sites)
        updates = len(gaps) - 1
        foreign = {
            site for sites in counted for site, count in sites.items() if count > 1 and present[site] < updates / 2
        }
        # What comes after the last update may be cut short.
        full = counted[1:-1]
        once = Counter(site for sites in full for site, count in sites.items() if count == 1)
        regular = (site for sites in full[:1] for site in sites if once[site] >= _MOSTLY * len(full))
        return cls(foreign, next(regular, None), {site for sites in counted[:-1] for site in sites} - foreign)


def _cut(gap: Sequence[Segment], sites: _Sites, is_last: bool) -> int:
    """How many of the stretches behind an update belong to its step."""
    start = max((number for number, one in enumerate(gap, 1) if one.end.kind == UPDATE), default=0)
    keys = [one.end.key for one in gap]
    foreign = next((number for number in range(start, len(gap)) if keys[number] in sites.foreign), len(gap))
    if sites.regular is not None and sites.regular in keys[start:foreign]:
        return keys.index(sites.regular, start) + 1
    if sites.regular is not None and sites.regular in keys[foreign:]:
        return foreign
    if is_last and start < foreign:
        known = (number for number in range(start + 1, foreign) if keys[number] not in sites.known)
        return next(known, foreign)
    return min(start + 1, foreign)


def _other_loops(gap: Sequence[Segment], sites: _Sites) -> tuple[list[Step], list[Step]]:
    """The steps of loops without an update, and what is left behind them for the next step."""
    last = max((number for number, one in enumerate(gap, 1) if one.end.key in sites.foreign), default=0)
    steps, left = by_cycle(gap[:last]) if last else ([], [])
    return steps, [*left, *map(updated, gap[last:])]


def _main_optimizers(updates: Sequence[Hashable]) -> set[Hashable]:
    """Those whose update is a step: not one that follows another's each time, as a generator's a discriminator's."""
    counted = Counter(updates)
    if len(counted) > _MOST_OPTIMIZERS:
        return set(counted)
    main: list[Hashable] = []
    for one in counted:
        if counted[one] < 2 or not any(_follows(one, other, updates) for other in main):
            main.append(one)
    return set(main)


def _follows(one: Hashable, other: Hashable, updates: Sequence[Hashable]) -> bool:
    """Whether before each update of ``one``, there was an update of ``other`` since the last."""
    seen = False
    for key in updates:
        if key == one:
            if not seen:
                return False
            seen = False
        elif key == other:
            seen = True
    return True
