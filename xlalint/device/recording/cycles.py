"""Steps by the cycle in which boundaries recur. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Final

from xlalint.device.recording.stretches import Segment, Step, joined, updated

_MOSTLY: Final = 0.8


def by_cycle(segments: Sequence[Segment]) -> tuple[list[Step], list[Step]]:
    """A step for each turn of the cycle in which boundaries recur, and what is left behind the last.

    A boundary that was passed only once, where others were passed again, ends no step of a loop.
    """
    passed = Counter(one.end.key for one in segments)
    least = 2 if any(count > 1 for count in passed.values()) else 1
    sites = [one.end.key for one in segments if passed[one.end.key] >= least]
    cycle = _cycle(sites)
    steps: list[Step] = []
    pending: list[Step] = []
    for one in segments:
        key = one.end.key
        pending.append(updated(one))
        if passed[key] < least or (key in cycle and key != cycle[-1]):
            continue
        steps.append(joined(pending))
        pending = []
    return steps, pending


def _cycle(sites: Sequence[Hashable]) -> Sequence[Hashable]:
    """The sites that recur in one order, each once a turn; empty where each is passed by itself."""
    for length in range(1, len(sites) // 2 + 1):
        turns = [one == other for one, other in zip(sites, sites[length:], strict=False)]
        if sum(turns) >= _MOSTLY * len(turns):
            first = sites[:length]
            return first if length > 1 and len(set(first)) == length else ()
    return ()
