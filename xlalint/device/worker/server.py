"""The device worker: imports torch_xla once, then forks a fresh child for each program.

``python -m xlalint.device.worker.server`` talks ``protocol`` on its stdin and stdout. It never touches a device itself:
a fork after the device is initialised hangs for good (measured, torch_xla 2.9). With ``--walled`` it is the first
process behind a wall. With ``--once FOLDER`` it runs one program in its own process and in that folder, for systems
that can't fork.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import shutil
import signal
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from xlalint.device.wall import leftovers
from xlalint.device.worker import protocol
from xlalint.device.worker.child import execute
from xlalint.device.worker.confinement import (
    FIRST,
    OUTPUT,
    adopt_orphans,
    confine,
    end_children,
    end_of,
    ending,
    flush,
    hide,
    leave_the_network,
    left_in,
    redirect,
)
from xlalint.device.worker.fresh import ONCE, in_fresh_process
from xlalint.device.worker.protocol import Failure, Outcome, Request, Versions
from xlalint.findings.model import Mode

WALLED = "--walled"
_LOOK_EACH = 0.05
"""Seconds between two looks whether a silent child still lives."""
_MOST_SAID = 256 << 20
"""Bytes of a message. The program can write it in place of what counts it."""


class Pipes(NamedTuple):
    """To whom the worker belongs."""

    requests: BinaryIO
    answers: BinaryIO


def main(arguments: list[str]) -> int:
    pipes = Pipes(os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"))
    redirect(os.devnull, 0, os.O_RDONLY)
    # What torch prints while it is imported must not stand between two messages.
    os.dup2(2, 1)
    if arguments[:1] == [ONCE]:
        return _run_once(pipes, Path(arguments[1]))
    code = _serve(pipes, WALLED in arguments and os.getpid() == FIRST)
    pipes.answers.flush()
    # Not sys.exit: to take torch apart takes half a second.
    os._exit(code)


def _serve(pipes: Pipes, walled: bool) -> int:
    if walled:
        # A program could send it; the worker ends with its pipes.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        hide()
        network_off = False
    else:
        adopt_orphans()
        network_off = _in_a_child_of_its_own()
    protocol.write(pipes.answers, _load(network_off))
    while (request := protocol.read(pipes.requests, Request)) is not None:
        outcome = _answer(request, pipes, walled)
        # What can't be removed goes with the wall.
        last = walled and not leftovers.remove()
        protocol.write(pipes.answers, msgspec.structs.replace(outcome, last=last))
        if last:
            break
    return 0


def _answer(request: Request, pipes: Pipes, walled: bool) -> Outcome:
    try:
        for name in (*request.preload, *(protocol.DYNAMO if request.mode is Mode.DYNAMO else ())):
            import_module(name)
    except ImportError as error:
        return Outcome(failure=Failure(type(error).__name__, str(error)))
    return _run_in_child(request, pipes, walled)


def _run_once(pipes: Pipes, scratch: Path) -> int:
    request = protocol.read(pipes.requests, Request)
    if request is None:
        return 1
    protocol.write(pipes.answers, _load(False))
    confine(scratch, request)
    outcome = execute(request)
    flush()
    protocol.write(pipes.answers, outcome)
    # Not sys.exit: the threads of the device runtime may hang at interpreter shutdown.
    os._exit(0)


def _load(network_off: bool) -> Versions:
    # What is imported stays: to look for garbage in it takes a tenth of the time. It is not frozen, though: a collector
    # that a program calls in its steps has as much to look at as it has anywhere else.
    gc.disable()
    torch, torch_xla = (import_module(name) for name in ("torch", "torch_xla"))
    for name in ("torch_xla.core.xla_model", "torch_xla.debug.metrics", "torch_xla.experimental"):
        import_module(name)
    gc.enable()
    # One thread: a pool made before the fork does not live in the child.
    torch.set_num_threads(1)
    device = os.environ.get("PJRT_DEVICE", "CPU")
    return Versions(torch.__version__.partition("+")[0], torch_xla.__version__, device, network_off)


def _in_a_child_of_its_own() -> bool:
    """Whether children can be cut off from the network: tried in one, for it can't be undone."""
    child = os.fork()
    if child == 0:
        os._exit(0 if leave_the_network() else 1)
    return os.waitpid(child, 0)[1] == 0


def _run_in_child(request: Request, pipes: Pipes, walled: bool) -> Outcome:
    scratch = Path(tempfile.mkdtemp(prefix="xlalint-"))
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        _be_the_child(scratch, request, pipes, into, walled)
    os.close(into)
    try:
        outcome = _outcome_of(out, child, request, walled)
        return msgspec.structs.replace(outcome, output=end_of(scratch / OUTPUT), left=left_in(scratch))
    finally:
        os.close(out)
        with contextlib.suppress(RecursionError):
            shutil.rmtree(scratch, ignore_errors=True)


def _be_the_child(scratch: Path, request: Request, pipes: Pipes, into: int, walled: bool) -> None:
    """Never returns. Only the process that was forked for it tells the outcome, not what the program forks in turn."""
    code, mine = 1, os.getpid()
    try:
        for pipe in pipes:
            os.close(pipe.fileno())
        if walled:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        confine(scratch, request, walled)
        outcome = in_fresh_process(request, scratch) if request.fresh else execute(request)
        flush()
        if os.getpid() == mine:
            with os.fdopen(into, "wb") as stream:
                protocol.write(stream, outcome)
            code = 0
    finally:
        # Not sys.exit: the threads of the device runtime may hang at interpreter shutdown.
        os._exit(code)


def _outcome_of(out: int, child: int, request: Request, walled: bool) -> Outcome:
    """What the child says, or why it says nothing. Nothing that it started is left."""
    try:
        body, status = _listen(out, child, request, walled)
    except _TooMuch as error:
        end_children()
        return Outcome(failure=error.failure)
    except BaseException:  # the worker is being ended; in a session of its own the child would go on
        os.killpg(child, signal.SIGKILL)
        raise
    # The child leads a group of its own, so what it started dies with it.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    if status is None:
        _, status = os.waitpid(child, 0)
        if body is None:
            end_children()
            return Outcome(failure=Failure("TimedOut", f"still running after {request.seconds:g} s"))
    end_children()
    if body is None:
        return Outcome(failure=ending(status, request))
    try:
        return msgspec.msgpack.decode(body, type=Outcome)
    except msgspec.DecodeError:
        return Outcome(failure=Failure("Died", "the process told what no program tells"))


class _TooMuch(Exception):
    """The program is ended for what it does."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure


def _listen(out: int, child: int, request: Request, walled: bool) -> tuple[bytes | None, int | None]:
    """The message of the child, None if there is none; and its status, None if it still lives. Raises ``_TooMuch``.

    The end of the pipe is no sign: a process that the program has forked may hold it.
    """
    deadline = time.monotonic() + request.seconds
    data = bytearray()
    status: int | None = None
    while (body := protocol.whole(data)) is None:
        ready, _, _ = select.select([out], [], [], _LOOK_EACH)
        part = os.read(out, 1 << 16) if ready else b""
        data += part
        if len(data) > _MOST_SAID:
            raise _TooMuch(Failure("TooMuchOutput", f"told more than {_MOST_SAID >> 20} MB of itself"))
        if walled and leftovers.files() > request.files:
            raise _TooMuch(Failure("TooManyFiles", f"wrote more than {request.files} files"))
        if part:
            continue
        if status is not None or time.monotonic() > deadline:
            return None, status
        ended, found = os.waitpid(child, os.WNOHANG)
        # Once more round: what it wrote at its end may be in the pipe.
        status = found if ended else None
        if ready and not ended:
            time.sleep(_LOOK_EACH)
    return body, status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
