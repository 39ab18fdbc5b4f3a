"""The device worker: imports torch_xla once, then forks a fresh child for each program. POSIX only.

``python -m xlalint.device.worker`` talks ``protocol`` on its stdin and stdout. It never touches a device itself:
a fork after the device is initialised hangs for good (measured, torch_xla 2.9).
"""

from __future__ import annotations

import contextlib
import linecache
import os
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from xlalint.device import protocol
from xlalint.device.counting import totals
from xlalint.device.protocol import PROGRAM, Failure, Outcome, Request, Versions
from xlalint.device.recorder import Recorded
from xlalint.findings.model import Mode

_OUTPUT_KEPT = 4000
_LOG = "debug.log"


class NotMeasurableError(Exception):
    """The program lacks what the mode needs."""


def main() -> int:
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    _redirect("/dev/null", 0, os.O_RDONLY)
    # What torch prints while it is imported must not stand between two messages.
    os.dup2(2, 1)
    protocol.write(answers, _load())
    while (request := protocol.read(requests, Request)) is not None:
        if request.mode is Mode.DYNAMO:
            _load_dynamo()
        protocol.write(answers, _run_in_child(request))
    return 0


def _load() -> Versions:
    torch, torch_xla = (import_module(name) for name in ("torch", "torch_xla"))
    for name in ("torch_xla.core.xla_model", "torch_xla.debug.metrics", "torch_xla.experimental"):
        import_module(name)
    # One thread: a pool made before the fork does not live in the child.
    torch.set_num_threads(1)
    return Versions(torch.__version__.partition("+")[0], torch_xla.__version__, os.environ.get("PJRT_DEVICE", "CPU"))


def _load_dynamo() -> None:
    for name in ("torch._dynamo", "torch._functorch.aot_autograd", "torch_xla._dynamo.dynamo_bridge"):
        import_module(name)


def _run_in_child(request: Request) -> Outcome:
    scratch = Path(tempfile.mkdtemp(prefix="xlalint-"))
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(out)
            _confine(scratch, request)
            outcome = _execute(request)
            sys.stdout.flush()
            with os.fdopen(into, "wb") as stream:
                protocol.write(stream, outcome)
            code = 0
        finally:
            # Not sys.exit: the threads of the device runtime may hang at interpreter shutdown.
            os._exit(code)
    os.close(into)
    try:
        body = _collect(out, request.seconds)
        outcome = _outcome_of(body, child, request.seconds)
        output = (scratch / "output").read_text(errors="replace")[-_OUTPUT_KEPT:]
        return msgspec.structs.replace(outcome, output=output)
    finally:
        os.close(out)
        shutil.rmtree(scratch, ignore_errors=True)


def _collect(descriptor: int, seconds: float) -> bytes | None:
    """All that the child writes, or None where it takes longer than ``seconds``."""
    deadline = time.monotonic() + seconds
    parts: list[bytes] = []
    while True:
        ready, _, _ = select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return None
        part = os.read(descriptor, 1 << 16)
        if not part:
            return b"".join(parts)
        parts.append(part)


def _outcome_of(body: bytes | None, child: int, seconds: float) -> Outcome:
    # The child leads a group of its own, so what it started dies with it.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if body is None:
            os.killpg(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    if body is None:
        return Outcome(failure=Failure("TimedOut", f"still running after {seconds:g} s", 0))
    if not body:
        return Outcome(failure=Failure("Died", f"the process ended with status {status}", 0))
    return msgspec.msgpack.decode(body[8:], type=Outcome)


def _confine(scratch: Path, request: Request) -> None:
    """Limits and a place to write; stdin is empty, so a debugger that waits for input ends at once."""
    os.setsid()
    os.chdir(scratch)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_DATA, (request.data_bytes, request.data_bytes))
    for descriptor in (1, 2):
        _redirect("output", descriptor, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    Path(PROGRAM).write_text(request.text, encoding="utf-8")


def _redirect(path: str, descriptor: int, flags: int) -> None:
    opened = os.open(path, flags, 0o600)
    os.dup2(opened, descriptor)
    os.close(opened)


def _execute(request: Request) -> Outcome:
    failure: Failure | None = None
    kept: object = None
    recorded = _recorded() if request.record else None
    started = time.perf_counter()
    try:
        run = _program(request)
        started = time.perf_counter()
        kept = run(request.steps)
    except BaseException as error:  # a program may raise anything, SystemExit and BdbQuit included
        failure = _failure(error)
    seconds = time.perf_counter() - started
    recording = recorded.finish() if recorded else None
    counts, fallback_ops = totals(kept)
    counts["host_seconds"] = seconds
    outcome = Outcome(totals=counts, fallback_ops=fallback_ops, failure=failure)
    if recording is None:
        return outcome
    lines = tuple(msgspec.structs.replace(line, path=PROGRAM) for line in recording.lines)
    return msgspec.structs.replace(outcome, lines=lines, unattributed=recording.unattributed)


def _recorded() -> Recorded:
    recorded = Recorded(Path(_LOG).resolve(), str(Path(PROGRAM).resolve()).__eq__)
    recorded.start()
    return recorded


def _program(request: Request) -> Callable[[int], object]:
    if request.mode is Mode.EAGER:
        import_module("torch_xla.experimental").eager_mode(True)
    path = str(Path(PROGRAM).resolve())
    linecache.checkcache(path)
    namespace: dict[str, Any] = {"__name__": "program", "__file__": path}
    exec(compile(request.text, path, "exec"), namespace)
    if request.mode is Mode.DYNAMO:
        if "step" not in namespace:
            raise NotMeasurableError("in dynamo mode the function `step` is compiled, and the program has none")
        namespace["step"] = import_module("torch").compile(namespace["step"], backend="openxla")
    run: Callable[[int], object] = namespace["run"]
    return run


def _failure(error: BaseException) -> Failure:
    path = str(Path(PROGRAM).resolve())
    lines = [frame.lineno or 0 for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    traceback.print_exception(error)
    return Failure(type(error).__name__, str(error).strip().partition("\n")[0][:300], lines[-1] if lines else 0)


if __name__ == "__main__":
    sys.exit(main())
