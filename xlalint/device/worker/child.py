"""Runs one program in this process, which is made for it and ends with it. Imports torch_xla."""

from __future__ import annotations

import contextlib
import errno
import linecache
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from xlalint.device import stubs
from xlalint.device.recording.addresses import without_addresses
from xlalint.device.recording.graph_breaks import GraphBreaks
from xlalint.device.recording.inside.files import owner
from xlalint.device.recording.inside.modes import switch_to
from xlalint.device.recording.runtime_metrics import totals
from xlalint.device.recording.session import RecordingSession
from xlalint.device.recording.surplus import Surplus
from xlalint.device.worker.confinement import flush
from xlalint.device.worker.protocol import PROGRAM, Failure, Outcome, Request
from xlalint.device.worker.ranks import run_on_each
from xlalint.findings.model import Mode

_LOG = "debug.log"


def execute(request: Request) -> Outcome:
    """The program is written to the working directory and run from there.

    In dynamo mode its function `step` is compiled; where it has none, each module that it calls.
    """
    if request.probes:
        return Outcome(probed=tuple(_probed(request)))
    Path(PROGRAM).write_text(request.text, encoding="utf-8")
    failure: Failure | None = None
    kept: object = None
    breaks = GraphBreaks()
    recorded = _recorded(request.owned) if request.record else None
    surplus = Surplus(lambda: totals(None, breaks)[0], recorded.mark if recorded else None)
    started = time.perf_counter()
    try:
        run = _program(request, breaks)
        started = time.perf_counter()
        if request.halved:
            kept = run(request.steps, surplus)
        else:
            kept = run(request.steps) if request.devices == 1 else run_on_each(run, request.steps, request.devices)
    except BaseException as error:  # a program may raise anything, SystemExit and BdbQuit included
        failure = _failure(error, request)
    seconds = time.perf_counter() - started
    surplus.close()
    recording = recorded.finish() if recorded else None
    counts, fallback_ops = totals(kept, breaks)
    counts["host_seconds"] = seconds
    outcome = Outcome(
        totals=counts,
        short_totals=surplus.less(counts) if request.halved else {},
        fallback_ops=fallback_ops,
        failure=failure,
        graph_breaks=tuple(breaks.reasons()),
    )
    if recording is None:
        return outcome
    lines = recording.whole.lines
    if not request.owned:
        lines = tuple(msgspec.structs.replace(line, path=PROGRAM) for line in lines)
    return msgspec.structs.replace(
        outcome,
        lines=lines,
        short_lines=recording.short_lines if request.halved else (),
        unattributed=recording.whole.unattributed,
    )


def _probed(request: Request) -> Iterator[Failure | None]:
    """Each program from its own start; none may take long."""
    for text in request.probes:
        Path(PROGRAM).write_text(text, encoding="utf-8")
        stubs.begin()
        failure: Failure | None = None
        try:
            with _no_longer_than(request.probe_seconds):
                _program(msgspec.structs.replace(request, text=text), GraphBreaks())(request.steps)
        except BaseException as error:
            failure = _failure(error, request, told=False)
        yield failure
        if failure is None or failure.type in request.ends:
            return


@contextlib.contextmanager
def _no_longer_than(seconds: float) -> Iterator[None]:
    if not hasattr(signal, "setitimer"):
        yield
        return

    def stop(*_: object) -> None:
        raise TimeoutError(f"still running after {seconds:g} s")

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _recorded(folders: tuple[str, ...]) -> RecordingSession:
    owned = owner(folders) if folders else str(Path(PROGRAM).resolve()).__eq__
    recorded = RecordingSession(Path(_LOG).resolve(), owned)
    recorded.start()
    return recorded


def _program(request: Request, breaks: GraphBreaks) -> Callable[..., object]:
    if request.mode is Mode.EAGER:
        import_module("torch_xla.experimental").eager_mode(True)
    path = str(Path(PROGRAM).resolve())
    sys.argv = [path]
    linecache.checkcache(path)
    module = ModuleType("program")
    # Dataclasses look their module up.
    sys.modules[module.__name__] = module
    namespace: dict[str, Any] = vars(module)
    namespace["__file__"] = path
    exec(compile(request.text, path, "exec"), namespace)
    if request.mode is Mode.DYNAMO and "step" in namespace:
        namespace["step"] = import_module("torch").compile(namespace["step"], backend=breaks.backend)
    elif request.mode is Mode.DYNAMO:
        switch_to("dynamo")
    run: Callable[..., object] = namespace["run"]
    return run


def _failure(error: BaseException, request: Request, told: bool = True) -> Failure:
    path = str(Path(PROGRAM).resolve())
    frames = traceback.extract_tb(error.__traceback__)
    lines = tuple(frame.lineno for frame in frames if frame.filename == path and frame.lineno)
    if isinstance(error, OSError) and error.errno == errno.EFBIG:
        return Failure("TooMuchOutput", f"wrote more than {request.file_bytes >> 20} MB to one file", lines)
    # Its output may be full.
    with contextlib.suppress(OSError, ValueError):
        if told:
            flush()
            traceback.print_exception(error)
    message = str(error).strip().partition("\n")[0][:300]
    return Failure(type(error).__name__, without_addresses(message), lines)
