"""Records one program in this process, by line. For the worker's children: imports torch_xla.

Before the first use of torch_xla in the process; afterwards the runtime has read its environment and writes no log.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from xlalint.device.recording.attribution import Recording, attribute
from xlalint.device.recording.debug_log import events
from xlalint.device.recording.inside.recorder import ENVIRONMENT, Recorder


class RecordingSession:
    """``start`` it, run the program, and ``finish`` gives what each line of the files of ``owned`` did."""

    def __init__(self, log: Path, owned: Callable[[str], bool]) -> None:
        os.environ.update(ENVIRONMENT)
        os.environ["PT_XLA_DEBUG_FILE"] = str(log)
        self._log, self._owned = log, owned
        self._recorder = Recorder(str(log), owned)

    def start(self) -> None:
        self._recorder.start()

    def finish(self) -> Recording:
        self._recorder.finish()
        if not self._log.exists():
            return attribute((), self._owned)
        with self._log.open(encoding="utf-8", errors="replace") as lines:
            return attribute(events(lines), self._owned)
