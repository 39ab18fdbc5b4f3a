"""Records one program in this process, by line. For the worker's children: imports torch_xla.

Before the first use of torch_xla in the process; afterwards the runtime has read its environment and writes no log.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from xlalint.device.recording.attribution import Recording, attribute
from xlalint.device.recording.counts import LineCounts
from xlalint.device.recording.debug_log import events, without_surplus
from xlalint.device.recording.inside.recorder import ENVIRONMENT, Recorder


class Recorded(NamedTuple):
    """Of one run."""

    whole: Recording
    short_lines: tuple[LineCounts, ...]
    """Without what was marked as further turns."""


class RecordingSession:
    """``start`` it, run the program, and ``finish`` gives what each line of the files of ``owned`` did."""

    def __init__(self, log: Path, owned: Callable[[str], bool]) -> None:
        os.environ.update(ENVIRONMENT)
        os.environ["PT_XLA_DEBUG_FILE"] = str(log)
        self._log, self._owned = log, owned
        self._recorder = Recorder(str(log), owned)

    def start(self) -> None:
        self._recorder.start()

    def mark(self, opened: bool) -> None:
        """Further turns of a loop begin (True) or end."""
        self._recorder.mark(opened)

    def finish(self) -> Recorded:
        self._recorder.finish()
        if not self._log.exists():
            return Recorded(attribute((), self._owned), ())
        with self._log.open(encoding="utf-8", errors="replace") as lines:
            log = tuple(events(lines))
        return Recorded(attribute(log, self._owned), attribute(without_surplus(log), self._owned).lines)
