"""A rehearsal on the host: forms of items are tried, each in a copy of the process that goes on to the end of a step.

Imports nothing heavy.
"""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import tempfile
import time
from contextlib import suppress
from itertools import islice

import msgspec

from xlalint.device.borders.item_forms import ItemForm, other_forms

_ROUNDS = 8
_ROUND = 20
"""Forms that are tried in a round, each of which goes on from that which came furthest."""
_SECONDS = 20.0
"""That one trial may take."""
_ALL_SECONDS = 60.0


class Report(msgspec.Struct, frozen=True):
    """How far a trial came."""

    done: bool
    """Whether it came to the end of a step."""
    updates: int = 0
    forwards: int = 0
    """How often a module's forward began, or ended."""
    message: str = ""
    lines: tuple[int, ...] = ()
    """Of the program's, where it failed, from the outermost call in: what comes later in its text is further."""

    @property
    def progress(self) -> tuple[bool, int, int, tuple[int, ...]]:
        return self.done, self.updates, self.forwards, self.lines


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
        tried: dict[ItemForm, Report] = {}
        expanded: set[str] = set()
        waiting = [first]
        for _ in range(_ROUNDS):
            for form in waiting:
                report = self._tried()
                if report is None:
                    return form
                tried[form] = report
                if report.done or time.monotonic() > self._end:
                    return _furthest(tried)
            # Of those that fail alike one is enough to go on from.
            open_ = {form: report for form, report in tried.items() if report.message not in expanded}
            if not open_:
                break
            start = _furthest(open_)
            expanded.add(tried[start].message)
            others = (each for each in other_forms(start, tried[start].message) if each not in tried)
            waiting = list(islice(dict.fromkeys(others), _ROUND))
        return _furthest(tried)

    def wanted(self, ways: int, asked: re.Pattern[str]) -> int | None:
        """The number of the first way in which the program does not fail by what is ``asked``, else of that which comes
        furthest; None where all come as far. In the copies that try them this returns each of them."""
        if self.is_trial:
            return None
        reports: list[Report] = []
        for way in range(ways):
            report = self._tried()
            if report is None or report.done or not asked.search(report.message):
                return way
            reports.append(report)
            if time.monotonic() > self._end:
                break
        if all(report.progress == reports[0].progress for report in reports):
            return None
        return max(range(len(reports)), key=lambda way: reports[way].progress)

    def _tried(self) -> Report | None:
        """How far a copy of this process comes; None in the copy."""
        out, into = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(out)
            _enter_own_folder()
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

    def end_trial(self, message: str, lines: tuple[int, ...] = ()) -> None:
        """A trial that failed tells how far it came, and ends."""
        self._tell(Report(False, self.updates, self.forwards, message, lines))

    def _tell(self, report: Report) -> None:
        if self._into is not None:
            os.write(self._into, msgspec.json.encode(report))
            os._exit(0)


def _enter_own_folder() -> None:
    """What a trial writes is not there for the next one."""
    own = tempfile.mkdtemp(dir=os.pardir)
    os.chdir(shutil.copytree(os.curdir, os.path.join(own, os.path.basename(os.getcwd())), symlinks=True))


def _furthest(tried: dict[ItemForm, Report]) -> ItemForm:
    return max(tried, key=lambda form: tried[form].progress)


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
