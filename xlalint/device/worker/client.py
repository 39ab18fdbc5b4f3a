"""The linter's side of the device worker: start it, behind a wall where one is given, hand it programs, outlive it."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, cast

import msgspec

from xlalint.device.wall.choice import Wall, python
from xlalint.device.wall.enclosure import CPU
from xlalint.device.wall.process_tree import ProcessTree
from xlalint.device.worker import protocol
from xlalint.device.worker.channel import Channel, Gone, TooLate
from xlalint.device.worker.confinement import OUTPUT, end_of, ending, left_in
from xlalint.device.worker.fresh import ONCE, SERVE
from xlalint.device.worker.limits import Limits
from xlalint.device.worker.protocol import Failure, Outcome, Request, Versions
from xlalint.findings.model import Mode

_WALLED = "--walled"
_DEFAULTS = {
    "PJRT_DEVICE": "CPU",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    # An import of torch_xla asks for GPUs because of it, and a process forked after that is told another error by CUDA
    # than any other process is (torch/_inductor/runtime/benchmarking.py).
    "TORCHINDUCTOR_USE_EXPERIMENTAL_BENCHMARKER": "0",
}
_START = 300.0
"""Seconds that the import of torch_xla may take, where no program waits for it."""
_PATIENCE = 60.0
"""Seconds that an answer may take beyond what its program may: the import of what it asks for."""


class WorkerError(Exception):
    """The worker did not start: torch or torch_xla is not installed, or does not work here."""


class _Ended(Exception):
    """The program was ended with its worker."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure


class Worker:
    """A process that holds torch_xla and runs each program in a fresh child of its own: 0.2 s a program.

    Without ``forks``, for systems that have none, each program gets a new interpreter, which takes seconds. Raises
    WorkerError where it can't start. ``env`` is added to this process's environment, of which little comes through a
    ``wall``; it is there before torch_xla is imported. A worker behind a wall ends with the thread that started it.
    """

    versions: Versions

    def __init__(
        self,
        env: Mapping[str, str] | None = None,
        forks: bool = hasattr(os, "fork"),
        *,
        wall: Wall | None = None,
        limits: Limits | None = None,
        patience: float = _PATIENCE,
        given_up: Callable[[], bool] = lambda: False,
    ) -> None:
        inherited = {**_DEFAULTS, **os.environ}
        self._env = {**(wall.environment(inherited) if wall is not None else inherited), **(env or {})}
        self._forks, self._wall, self._patience = forks, wall, patience
        self._limits = limits or Limits()
        self._given_up, self._closed = given_up, False
        # A file and not a pipe: nobody reads it while the worker runs.
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        if forks:
            self._start()
        else:
            self._run_alone(Request(text="def run(steps): return None", steps=1, mode=Mode.LAZY))

    def run(self, request: Request) -> Outcome:
        """Run one program. What goes wrong in it stands in the outcome; raises WorkerError only."""
        # The runtime of a real device may ask the network where it is.
        network = request.network or (self._forks and self.versions.device != CPU)
        request = msgspec.structs.replace(self._limits.laid_on(request), network=network)
        if self._closed:
            return Outcome(failure=Failure("Died", "its worker was ended"))
        if not self._forks:
            return self._run_alone(request)
        try:
            outcome = self._answer(request)
        except Gone:
            failure = Failure("Died", "the worker died while it ran this, and was started again")
            return self._again(Outcome(failure=failure))
        except TooLate:
            return self._again(Outcome(failure=Failure("TimedOut", f"still running after {request.seconds:g} s")))
        except _Ended as ended:
            return self._again(Outcome(failure=ended.failure))
        return self._again(outcome) if outcome.last else outcome

    def beside(self, env: Mapping[str, str]) -> Worker:
        """Another one like this, with more in its environment."""
        return Worker(env, self._forks, wall=self._wall, limits=self._limits, patience=self._patience)

    def close(self) -> None:
        self._closed = True
        if self._forks:
            self._stop()
        self._errors.close()

    def kill(self) -> None:
        """End it at once, with the program that it runs. What waits for an answer gets one."""
        self._closed = True
        if self._forks:
            self._end_tree()

    def _answer(self, request: Request) -> Outcome:
        """Raises ``Gone``, ``TooLate`` and ``_Ended``."""
        deadline = time.monotonic() + request.seconds + self._patience
        self._tree.begin()
        self._channel.send(protocol.framed(request), deadline)
        body = self._channel.receive(deadline, lambda: self._look(request))
        return msgspec.msgpack.decode(body, type=Outcome)

    def _look(self, request: Request) -> None:
        """Raises ``_Ended`` where the program takes more than it may. No process can be told it by the kernel: shared
        pages are nobody's, and an administrator's processes are not counted."""
        load = self._tree.grown(request.tasks, request.data_bytes)
        if load.tasks > request.tasks:
            raise _Ended(Failure("TooManyProcesses", f"had more than {request.tasks} processes and threads"))
        if load.memory > request.data_bytes:
            raise _Ended(Failure("TooMuchMemory", f"used more than {request.data_bytes >> 20} MB of memory"))

    def _again(self, outcome: Outcome) -> Outcome:
        self._end_tree()
        self._stop()
        if not self._closed:
            self._start()
        return outcome

    def _start(self) -> None:
        command = python(SERVE, ()) if self._wall is None else self._wall.around(SERVE, [_WALLED])
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, env=self._env, bufsize=0
        )
        self._tree = ProcessTree(self._process.pid)
        pipes = (cast(BinaryIO, each).fileno() for each in (self._process.stdin, self._process.stdout))
        self._channel = Channel(*pipes)
        try:
            told = self._channel.receive(time.monotonic() + _START, self._look_whether_wanted)
            versions = msgspec.msgpack.decode(told, type=Versions)
        except (Gone, TooLate) as error:
            self._end_tree()
            self._stop()
            raise WorkerError(self._last_words()) from error
        walled_off = self._wall is not None and not self._wall.inside.network
        self.versions = msgspec.structs.replace(versions, network_off=versions.network_off or walled_off)

    def _look_whether_wanted(self) -> None:
        """Raises ``Gone``."""
        if self._given_up():
            raise Gone

    def _stop(self) -> None:
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()
        try:
            self._process.wait(self._patience)
        except subprocess.TimeoutExpired:
            self._end_tree()
            self._process.wait()

    def _end_tree(self) -> None:
        """The first process behind a wall takes all others with it; without a wall they are ended one by one."""
        if self._process.poll() is None:
            self._tree.kill(with_first=self._wall is not None)
        self._process.kill()

    def _run_alone(self, request: Request) -> Outcome:
        with tempfile.TemporaryDirectory(prefix="xlalint-") as scratch:
            process = subprocess.Popen(
                python(SERVE, [ONCE, scratch]),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                env=self._env,
            )
            try:
                told, _ = process.communicate(protocol.framed(request), timeout=self._patience + request.seconds)
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
            if self._wall is not None:
                self.kill()
            else:
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
