"""A rehearsal on the host: forms of items are tried, each in a copy of the process that goes on to the end of a step.

Imports nothing heavy.
"""

from __future__ import annotations

import os
import select
import signal
import time
from contextlib import suppress
from itertools import islice

import msgspec

from xlalint.device.borders.item_forms import ItemForm, other_forms

_ROUNDS = 6
_ROUND = 24
"""Forms that are tried in a round, each of which begins with that which came furthest."""
_SECONDS = 20.0
"""That one trial may take."""
_ALL_SECONDS = 60.0


class Report(msgspec.Struct, frozen=True):
    """How far a trial came."""

    done: bool
    """Whether it came to the end of a step."""
    updates: int = 0
    forwards: int = 0
    message: str = ""

    @property
    def progress(self) -> tuple[bool, int, int]:
        return self.done, self.updates, self.forwards


class Rehearsal:
    """Of one script. What it counts, it is told of."""

    def __init__(self) -> None:
        self.updates = self.forwards = 0
        self._into: int | None = None
        """Where this process reports, if it is a trial."""
        self._since = 0
        self._end = time.monotonic() + _ALL_SECONDS

    @property
    def is_trial(self) -> bool:
        return self._into is not None

    def best(self, first: ItemForm) -> ItemForm:
        """The first form with which a step comes to its end, else the one that came furthest. In the copies that try
        them this returns each of them."""
        tried: set[ItemForm] = set()
        best, found = first, Report(False, -1)
        waiting = [first]
        for _ in range(_ROUNDS):
            came = found
            for form in waiting:
                tried.add(form)
                report = self._tried(form)
                if report is None:
                    return form
                if report.progress > found.progress:
                    best, found = form, report
                if found.done or time.monotonic() > self._end:
                    return best
            if found is came:
                break
            waiting = list(islice((each for each in other_forms(best, found.message) if each not in tried), _ROUND))
        return best

    def _tried(self, form: ItemForm) -> Report | None:
        """None in the copy that tries it."""
        out, into = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(out)
            self._into, self._since = into, self.forwards
            return None
        os.close(into)
        try:
            return _heard(out)
        finally:
            os.close(out)
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)

    def step_ended(self) -> None:
        """A trial ends here, if a model has run in it."""
        if self.forwards > self._since:
            self.end()

    def end(self) -> None:
        """A trial that has come so far has succeeded."""
        self._tell(Report(True, self.updates, self.forwards))

    def end_trial(self, message: str) -> None:
        """A trial that failed tells how far it came, and ends."""
        self._tell(Report(False, self.updates, self.forwards, message))

    def _tell(self, report: Report) -> None:
        if self._into is not None:
            os.write(self._into, msgspec.json.encode(report))
            os._exit(0)


def _heard(out: int) -> Report:
    end = time.monotonic() + _SECONDS
    data = b""
    while (left := end - time.monotonic()) > 0:
        ready, _, _ = select.select([out], [], [], left)
        part = os.read(out, 1 << 16) if ready else b""
        if not part:
            break
        data += part
    with suppress(msgspec.DecodeError):
        return msgspec.json.decode(data, type=Report)
    return Report(False, -1)
