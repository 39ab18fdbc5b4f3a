"""Limits for a program that nobody vouches for, set by the process that is about to run it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import signal
import socket
import stat
import struct
import sys
from pathlib import Path

from xlalint.device.wall.enclosure import SCRATCH
from xlalint.device.wall.forbidden_calls import refuse_calls
from xlalint.device.wall.landlock import restrict_writing
from xlalint.device.worker.protocol import LEFT, Failure, Request

with contextlib.suppress(ImportError):  # not on Windows
    import fcntl
    import resource

OUTPUT = "output"
"""What the program writes to stdout and stderr."""
_OUTPUT_KEPT = 4000
_LEFT_BYTES = 64 << 20
FIRST = 1
"""The number of the first process of a namespace: the worker behind a wall."""
_CLONE_NEWUSER, _CLONE_NEWNET = 0x10000000, 0x40000000
_SET_INTERFACE_FLAGS, _UP = 0x8914, 0x1
_SET_CHILD_SUBREAPER, _SET_DUMPABLE = 36, 4
_COUNTS_BY_NAMESPACE = (5, 14)
"""From this kernel on, a limit on processes does not count those of the same user outside."""


def confine(scratch: Path, request: Request, walled: bool = False) -> None:
    """A group, a place to write, limits, no network. Stdin is empty: a debugger that waits for input ends at once.

    Behind a wall there is no network anyway, and it is closed once more from inside.
    """
    if hasattr(os, "setsid"):
        os.setsid()
    os.chdir(scratch)
    for name in ("HOME", "TMPDIR", "XDG_CACHE_HOME"):
        os.environ[name] = str(scratch)
    _limit(request, walled)
    if walled:
        hide(False)
        restrict_writing((SCRATCH, "/dev"))
        refuse_calls()
    elif not request.network:
        leave_the_network()
    for descriptor in (1, 2):
        redirect(OUTPUT, descriptor, os.O_WRONLY | os.O_CREAT | os.O_APPEND)


def redirect(path: str, descriptor: int, flags: int) -> None:
    opened = os.open(path, flags, 0o600)
    os.dup2(opened, descriptor)
    os.close(opened)


def flush() -> None:
    """The last words of the program, as far as they may still be written."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()


def end_of(path: Path) -> str:
    """The last of a file that may be of any size."""
    return _text_of(path, 4 * _OUTPUT_KEPT)[-_OUTPUT_KEPT:]


def left_in(scratch: Path) -> str:
    """What the program left for whoever asked for its run."""
    return _text_of(scratch / LEFT, _LEFT_BYTES)


def _text_of(path: Path, most: int) -> str:
    """The end of a file. In its place the program may have put a pipe that nobody writes to, or a link."""
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
    try:
        with open(os.open(path, flags), "rb") as file:
            told = os.fstat(file.fileno())
            if not stat.S_ISREG(told.st_mode):
                return ""
            file.seek(max(0, told.st_size - most))
            return file.read(most).decode(errors="replace")
    except OSError:
        return ""


def leave_the_network() -> bool:
    """Into a network with nothing in it but this machine's own address. False where the system does not allow it."""
    if not sys.platform.startswith("linux"):
        return False
    unshare = getattr(ctypes.CDLL(None), "unshare", None)
    if unshare is None:
        return False
    # An administrator needs no user of its own for it, and anyone else may have one where the system allows.
    if unshare(_CLONE_NEWNET) != 0 and unshare(_CLONE_NEWUSER | _CLONE_NEWNET) != 0:
        return False
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        fcntl.ioctl(one, _SET_INTERFACE_FLAGS, struct.pack("16sh14x", b"lo", _UP))
    return True


def hide(hidden: bool = True) -> None:
    """This process from those that it starts: they can't look into its memory and files."""
    ctypes.CDLL(None).prctl(_SET_DUMPABLE, 0 if hidden else 1, 0, 0, 0)


def adopt_orphans() -> None:
    """Processes that outlive the one that started them become this one's children (Linux)."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_children() -> None:
    """Kill what a program has left behind: in the worker all children are such, once the program's own is waited for.

    What these have started in turn becomes a child when they end, so it goes on until none is left. The first process
    behind a wall ends all others at once: however fast they fork, none gets away.
    """
    with contextlib.suppress(ChildProcessError):
        while True:
            for child in (-1,) if os.getpid() == FIRST else _children():
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(child, signal.SIGKILL)
            os.waitpid(-1, 0)


def ending(status: int, request: Request) -> Failure:
    """Why a process that left no outcome ended."""
    if not os.WIFSIGNALED(status):
        return Failure("Died", f"the process ended with exit code {os.WEXITSTATUS(status)} before it was done")
    number = os.WTERMSIG(status)
    if number == getattr(signal, "SIGXCPU", None):
        return Failure("TooMuchTime", f"used more than {request.cpu_seconds} s of processor time")
    name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
    return Failure("Died", f"the process was killed by {name}")


def _limit(request: Request, walled: bool) -> None:
    if "resource" not in globals():
        return
    if walled and _kernel() >= _COUNTS_BY_NAMESPACE:
        # Of an administrator it isn't asked; who started the worker counts, too.
        resource.setrlimit(resource.RLIMIT_NPROC, (request.tasks, request.tasks))
    for kind, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_DATA, request.data_bytes),
        (resource.RLIMIT_FSIZE, request.file_bytes),
    ):
        resource.setrlimit(kind, (most, most))
    # A second more for the hard limit: the soft one tells the reason.
    resource.setrlimit(resource.RLIMIT_CPU, (request.cpu_seconds, request.cpu_seconds + 1))


def _kernel() -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", os.uname().release)[:2])


def _children() -> list[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError):
            # The name in brackets may hold anything.
            parent = int(entry.read_text(errors="replace").rpartition(")")[2].split()[1])
            if parent == os.getpid():
                found.append(int(entry.parent.name))
    return found
