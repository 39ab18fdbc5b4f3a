"""Runs one program in this process, which is made for it and ends with it. Imports torch_xla."""

from __future__ import annotations

import contextlib
import errno
import linecache
import time
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from xlalint.device.counting import totals
from xlalint.device.protocol import PROGRAM, Failure, Outcome, Request
from xlalint.device.recorder import Recorded
from xlalint.findings.model import Mode

_LOG = "debug.log"


class NotMeasurableError(Exception):
    """The program lacks what the mode needs."""


def execute(request: Request) -> Outcome:
    """The program is written to the working directory and run from there."""
    Path(PROGRAM).write_text(request.text, encoding="utf-8")
    failure: Failure | None = None
    kept: object = None
    recorded = _recorded() if request.record else None
    started = time.perf_counter()
    try:
        run = _program(request)
        started = time.perf_counter()
        kept = run(request.steps)
    except BaseException as error:  # a program may raise anything, SystemExit and BdbQuit included
        failure = _failure(error, request)
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


def _failure(error: BaseException, request: Request) -> Failure:
    path = str(Path(PROGRAM).resolve())
    lines = [frame.lineno or 0 for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    line = lines[-1] if lines else 0
    if isinstance(error, OSError) and error.errno == errno.EFBIG:
        return Failure("TooMuchOutput", f"wrote more than {request.file_bytes >> 20} MB to one file", line)
    # Its output may be full.
    with contextlib.suppress(OSError, ValueError):
        traceback.print_exception(error)
    return Failure(type(error).__name__, str(error).strip().partition("\n")[0][:300], line)
