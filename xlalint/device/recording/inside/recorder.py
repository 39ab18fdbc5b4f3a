"""Writes what the device does, by line, into the runtime's own debug log: one file, in the order of events.

The runtime writes each compile and each execution there, with its Python frames. Between them stand lines of ours,
each with ``MARK`` and a JSON object: what the counters gained while a line of the user's was at work, the step
boundaries, and at the end the totals. A program that dies leaves all that it had done until then.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from .meter import FIELDS, Counts, Meter
from .watch import Listener, Place, watch_of_this_python

Stack = tuple[tuple[str, int], ...]
"""Files and lines, innermost first."""
MARK = "xlalint: "
ENVIRONMENT = {
    "PT_XLA_DEBUG_LEVEL": "2",
    # Eight by default, which a training library uses up before the user's own frame comes.
    "PT_XLA_DEBUG_MAX_FRAME": "200",
    # How many samples of each metric are kept, and copied at each look. The totals do not depend on it.
    "XLA_METRICS_SAMPLES": "8",
}
"""Must be set before torch_xla's first use, as ``PT_XLA_DEBUG_FILE``, the name of the log, must be."""


class Wanted(NamedTuple):
    """What a recording holds beside the counts by line of the user's."""

    library: Callable[[str], bool] | None = None
    """Files whose lines are told below the user's line that called them."""
    step_at: tuple[str, int] | None = None
    """Path and line at which a step begins."""
    times: bool = False
    """When each thing happened."""


class Recorder(Listener):
    """Records this process from ``start`` to ``finish``. ``owned`` tells the user's files by path."""

    def __init__(
        self,
        log: str,
        owned: Callable[[str], bool],
        head: Callable[[], dict[str, Any]] = dict,
        wanted: Wanted = Wanted(),  # noqa: B008 (it is frozen)
    ) -> None:
        self._log, self._head, self._wanted = log, head, wanted
        self._file: int | None = None
        self.step_at = wanted.step_at
        self._watch = watch_of_this_python()(owned, self._charge, wanted.library, self)
        self._meter = Meter()
        self._totals = dict.fromkeys(FIELDS, 0)
        self._executed = 0
        self._lock = threading.RLock()
        self._unhook: Callable[[], None] = lambda: None
        self._sites: dict[Stack, int] = {}
        self._optimizers: dict[int, int] = {}

    def start(self) -> None:
        self._meter.deltas()
        self._meter.amounts()
        self._meter.samples()
        self._meter.executed()
        self._unhook = _around_boundaries(self._boundary)
        self._watch.start()

    def finish(self, breaks: list[dict[str, Any]] | None = None) -> dict[str, int]:
        """The totals of the runtime, when all that was sent has been executed. ``breaks`` are told with them."""
        self._watch.stop()
        self._unhook()
        self._meter.finish_pending()
        self._charge(None)
        self._totals["executions"] = self._executed
        if any(self._totals.values()) or self._file is not None:
            for one in breaks or ():
                self._write({"break": one})
            self._write({"ran": self._watch.ran()})
            self._write({"totals": self._totals})
        return dict(self._totals)

    def abandon(self) -> None:
        """In a child made by fork: what follows is not this process's any more."""
        with contextlib.suppress(Exception):
            self._watch.stop()
            self._unhook()

    def has_begun(self) -> bool:
        return self._meter.device_was_used()

    def updated(self, optimizer: object) -> None:
        number = self._optimizers.setdefault(id(optimizer), len(self._optimizers))
        with self._lock:
            if self._meter.device_was_used():
                self._write({"update": number})

    def began(self) -> None:
        with self._lock:
            if self._meter.device_was_used():
                self._write({"began": True})

    def mark(self, opened: bool) -> None:
        """Where further turns of a loop begin (True) and end: what was done until now is told before it."""
        with self._lock:
            self._watch.flush()
            self._write({"surplus": opened})

    def _charge(self, place: Place | None, below: Place | None = None) -> None:
        with self._lock:
            # Between two lines of a library there mostly is nothing, and there are many of them.
            if below is not None and not self._meter.has_moved():
                return
            gained = self._meter.deltas()
            self._executed += self._meter.executed()
            if any(gained):
                self._note(place, below, gained)

    def _note(self, place: Place | None, below: Place | None, gained: Counts) -> None:
        for field, count in zip(FIELDS, gained, strict=True):
            self._totals[field] += count
        told: dict[str, Any] = {"at": place, **({"below": below} if below else {})}
        told.update((field, count) for field, count in zip(FIELDS, gained, strict=True) if count)
        told.update((name, amount) for name, amount in self._meter.amounts().items() if amount)
        if self._meter.fallen:
            told["ops"] = self._meter.fallen
        self._write(told)
        if self._wanted.times and (samples := self._meter.samples()):
            self._write({"samples": samples})

    def _boundary(self) -> None:
        with self._lock:
            place = self._watch.flush()
            self._write({"boundary": place, "site": self._sites.setdefault(_stack(), len(self._sites))})

    def _write(self, event: dict[str, Any]) -> None:
        if self._file is None:
            self._file = os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            os.write(self._file, f"{MARK}{json.dumps({'process': os.getpid(), **self._head()})}\n".encode())
        if self._wanted.times:
            event["time"] = time.time()
        os.write(self._file, f"{MARK}{json.dumps(event)}\n".encode())


def _stack() -> Stack:
    """Where the boundary is passed: the same lines on the way to it are the same place."""
    frame, lines = sys._getframe(2).f_back, []
    while frame is not None:
        lines.append((frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back
    return tuple(lines)


def _around_boundaries(passed: Callable[[], None]) -> Callable[[], None]:
    """Call ``passed`` after each step boundary; gives what undoes it.

    Every boundary ends by running the step's closures. To wrap the call that sends the graph would put a frame of
    ours where the runtime looks for the cause.
    """
    boundaries: Any = import_module("torch_xla.core.xla_model")
    original = boundaries._run_step_closures

    def run_step_closures() -> Any:
        try:
            return original()
        finally:
            if not _dynamo_prepares():
                passed()

    # What dynamo's own `disable` sets; to import dynamo for it takes seconds.
    run_step_closures._torchdynamo_disable = True  # type: ignore[attr-defined]
    boundaries._run_step_closures = run_step_closures

    def undo() -> None:
        boundaries._run_step_closures = original

    return undo


def _dynamo_prepares() -> bool:
    """Whether the boundary is torch_xla's own, on the way to compile a graph of dynamo's: no step ends there."""
    caller = sys._getframe(2).f_back
    return caller is not None and str(caller.f_globals.get("__name__", "")).startswith("torch_xla._dynamo")
