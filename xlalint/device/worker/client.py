"""The linter's side of the device worker: start it, hand it programs, outlive it."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, cast

import msgspec

from xlalint.device.worker import protocol
from xlalint.device.worker.confinement import OUTPUT, end_of, ending, left_in
from xlalint.device.worker.protocol import Failure, Outcome, Request, Versions
from xlalint.findings.model import Mode

_COMMAND = (sys.executable, "-m", "xlalint.device.worker.server")
_DEFAULTS = {"PJRT_DEVICE": "CPU", "TF_CPP_MIN_LOG_LEVEL": "3"}
_START = 60.0
"""Seconds that the import of torch_xla may take."""


class WorkerError(Exception):
    """The worker did not start: torch or torch_xla is not installed, or does not work here."""


class Worker:
    """A process that holds torch_xla and runs each program in a fresh child of its own: 0.2 s a program.

    Without ``forks``, for systems that have none, each program gets a new interpreter, which takes seconds. Raises
    WorkerError where it can't start. ``env`` is added to this process's environment; it is there before torch_xla is
    imported.
    """

    versions: Versions

    def __init__(self, env: Mapping[str, str] | None = None, forks: bool = hasattr(os, "fork")) -> None:
        self._env = {**_DEFAULTS, **os.environ, **(env or {})}
        self._forks = forks
        # A file and not a pipe: nobody reads it while the worker runs.
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        if forks:
            self._start()
        else:
            self._run_alone(Request(text="def run(steps): return None", steps=1, mode=Mode.LAZY))

    def run(self, request: Request) -> Outcome:
        """Run one program. What goes wrong in it stands in the outcome; raises WorkerError only."""
        if not self._forks:
            return self._run_alone(request)
        outcome: Outcome | None = None
        with suppress(BrokenPipeError):
            protocol.write(cast(BinaryIO, self._process.stdin), request)
            outcome = protocol.read(self._answers, Outcome)
        if outcome is None:
            self._stop()
            self._start()
            return Outcome(failure=Failure("Died", "the worker died while it ran this, and was started again"))
        return outcome

    def close(self) -> None:
        if self._forks:
            self._stop()
        self._errors.close()

    @property
    def _answers(self) -> BinaryIO:
        return cast(BinaryIO, self._process.stdout)

    def _start(self) -> None:
        self._process = subprocess.Popen(
            _COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, env=self._env
        )
        versions = protocol.read(self._answers, Versions)
        if versions is None:
            self._process.kill()
            self._stop()
            raise WorkerError(self._last_words())
        self.versions = versions

    def _stop(self) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()
        self._process.wait()

    def _run_alone(self, request: Request) -> Outcome:
        with tempfile.TemporaryDirectory(prefix="xlalint-") as scratch:
            process = subprocess.Popen(
                (*_COMMAND, "--once", scratch),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env=self._env,
            )
            try:
                told, _ = process.communicate(protocol.framed(request), timeout=_START + request.seconds)
            except subprocess.TimeoutExpired:
                _kill(process)
                failure = Failure("TimedOut", f"still running after {request.seconds:g} s")
                return Outcome(failure=failure, output=end_of(Path(scratch) / OUTPUT), left=left_in(Path(scratch)))
            return self._outcome(told, process.returncode, request, Path(scratch))

    def _outcome(self, told: bytes, status: int, request: Request, scratch: Path) -> Outcome:
        answers = io.BytesIO(told)
        versions = protocol.read(answers, Versions)
        if versions is None:
            raise WorkerError(self._last_words())
        self.versions = versions
        outcome = protocol.read(answers, Outcome)
        # `ending` reads a status as `wait` has it.
        wait_status = -status if status < 0 else status << 8
        found = outcome or Outcome(failure=ending(wait_status, request))
        return msgspec.structs.replace(found, output=end_of(scratch / OUTPUT), left=left_in(scratch))

    def _last_words(self) -> str:
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return f"the device worker is gone: {lines[-1] if lines else 'it said nothing'}"

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None and self._forks:
            # Not to wait for what runs: the worker ends it, and itself.
            self._process.send_signal(signal.SIGINT)
        self.close()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """The program leads a group of its own, where there are groups."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.kill()
    process.communicate()
