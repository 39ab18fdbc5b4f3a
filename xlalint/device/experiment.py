"""Run programs on the device at N and 2N steps and say what grows with the steps and what does not."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from types import TracebackType
from typing import BinaryIO, cast

import msgspec

from xlalint.device import protocol
from xlalint.device.protocol import Failure, Outcome, Request, Versions
from xlalint.findings.model import Mode


class WorkerError(Exception):
    """The worker did not start or is gone: torch or torch_xla is not installed, or the system has no fork."""


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """What a program costs in one mode.

    ``per_step`` is (total at 2N - total at N) / N, ``once`` is what remains: total at N - per_step * N. A program
    that fails has neither, and says why in ``failure``. ``host_seconds`` is wall time, good for ratios only.
    """

    steps: int
    per_step: dict[str, float] = {}
    once: dict[str, float] = {}
    fallback_ops: tuple[str, ...] = ()
    failure: Failure | None = None
    output: str = ""


class Worker:
    """A process that holds torch_xla and runs each program in a fresh child of its own: 0.2 s a program.

    Raises WorkerError where it can't start. ``env`` is added to this process's environment; it is there
    before torch_xla is imported.
    """

    versions: Versions

    def __init__(self, env: Mapping[str, str] | None = None) -> None:
        if not hasattr(os, "fork"):
            raise WorkerError("the device worker needs a POSIX system")
        defaults = {"PJRT_DEVICE": "CPU", "TF_CPP_MIN_LOG_LEVEL": "3"}
        # A file and not a pipe: nobody reads it while the worker runs.
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-m", "xlalint.device.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**defaults, **os.environ, **(env or {})},
        )
        versions = protocol.read(self._answers, Versions)
        if versions is None:
            raise WorkerError(self._last_words())
        self.versions = versions

    @property
    def _answers(self) -> BinaryIO:
        return cast(BinaryIO, self._process.stdout)

    def run(self, request: Request) -> Outcome:
        """Run one program. What goes wrong in it stands in the outcome; raises WorkerError only."""
        try:
            protocol.write(cast(BinaryIO, self._process.stdin), request)
        except BrokenPipeError:
            raise WorkerError(self._last_words()) from None
        outcome = protocol.read(self._answers, Outcome)
        if outcome is None:
            raise WorkerError(self._last_words())
        return outcome

    def close(self) -> None:
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            if stream is not None:
                stream.close()
        self._process.wait()

    def _last_words(self) -> str:
        self._process.kill()
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        self.close()
        return f"the device worker is gone: {lines[-1] if lines else 'it said nothing'}"

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def measure(worker: Worker, text: str, mode: Mode = Mode.LAZY, steps: int = 6, seconds: float = 60.0) -> Figures:
    """Run ``text`` at ``steps`` and at twice as many."""
    short = worker.run(Request(text=text, steps=steps, mode=mode, seconds=seconds))
    if short.failure:
        return Figures(steps=steps, failure=short.failure, output=short.output)
    long = worker.run(Request(text=text, steps=2 * steps, mode=mode, seconds=seconds))
    if long.failure:
        return Figures(steps=steps, failure=long.failure, output=long.output)
    growth = {name: (long.totals[name] - total) / steps for name, total in short.totals.items()}
    return Figures(
        steps=steps,
        per_step=growth,
        once={name: total - growth[name] * steps for name, total in short.totals.items()},
        fallback_ops=long.fallback_ops,
        output=long.output,
    )
