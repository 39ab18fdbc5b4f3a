"""Counts what a block of a running program costs, by line. Imports torch_xla when it is entered, never before.

It needs no debug log, which the runtime would have to be told of before its first use: the counters alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType

import msgspec

from xlalint.device.recording.counts import Counts
from xlalint.device.recording.inside.files import is_library, owner
from xlalint.device.recording.inside.meter import FIELDS, Meter
from xlalint.device.recording.inside.watch import Place, Watch, watch_of_this_python


class LineOfBlock(msgspec.Struct, frozen=True):
    """What was done while a line of the user's was at work, and the line of a library below it."""

    at: Place | None
    below: Place | None
    counts: Counts


class MeasuredBlock:
    """A context; ``lines`` are there when it has ended. ``roots`` hold the user's files."""

    def __init__(self, roots: Sequence[str]) -> None:
        self._roots = roots
        self._watch: Watch | None = None
        self.lines: list[LineOfBlock] = []

    @property
    def counts(self) -> Counts:
        return sum((line.counts for line in self.lines), Counts())

    def __enter__(self) -> MeasuredBlock:
        self._meter = Meter()
        # What was sent before is no part of it.
        self._meter.finish_pending()
        self._meter.deltas()
        self._watch = watch_of_this_python()(owner(self._roots), self._charge, is_library)
        self._watch.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._watch is not None:
            self._watch.stop()
        self._meter.finish_pending()
        self._charge(None, None)

    def _charge(self, place: Place | None, below: Place | None) -> None:
        if below is not None and not self._meter.has_moved():
            return
        gained = self._meter.deltas()
        if any(gained):
            counts = Counts(**dict(zip(FIELDS, gained, strict=True)))
            self.lines.append(LineOfBlock(place, below, counts))
