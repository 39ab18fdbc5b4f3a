"""What the linter's process and the device worker say to each other: framed msgpack over pipes."""

from __future__ import annotations

import os
from typing import BinaryIO, TypeVar

import msgspec

from xlalint.device.recording.counts import Counts, LineCounts
from xlalint.findings.model import Mode

PROGRAM = "program.py"
"""The name of the file that a program is run from."""
LEFT = "left.txt"
"""The name of the file in which a program may leave a text for whoever asked for its run."""
DYNAMO = ("torch._dynamo", "torch._functorch.aot_autograd", "torch_xla._dynamo.dynamo_bridge")
"""What `torch.compile` imports when it is first used, in seconds."""
TASKS = max(1024, 16 * (os.cpu_count() or 1))
"""Processes and threads: the device's runtime starts some for each core."""
FILES = 100_000
MEMORY = 4 << 30
"""Bytes of one program."""
_LENGTH_BYTES = 8


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """Run one program in a fresh process."""

    text: str
    """A module with ``def run(steps: int)``."""
    steps: int
    halved: bool = False
    """Whether what it does up to half of the steps is told, too: it runs as ``run(steps, surplus)``."""
    mode: Mode
    seconds: float = 60.0
    """Wall time before the program and all that it started are killed."""
    data_bytes: int = MEMORY
    """RLIMIT_DATA of each process (not RLIMIT_AS: importing torch_xla alone maps 5 GB), and all pages of all of them,
    shared ones counted once."""
    cpu_seconds: int = 300
    """RLIMIT_CPU, over all threads."""
    file_bytes: int = 64 << 20
    """RLIMIT_FSIZE, for each file that the program writes; its output is one."""
    tasks: int = TASKS
    """Processes and threads at a time."""
    files: int = FILES
    """Files and folders that may lie in the scratch folder at a time."""
    network: bool = False
    """Whether it may use the network: for programs of our own, on a device whose runtime may ask for it."""
    preload: tuple[str, ...] = ()
    """Modules that the worker imports before it makes the process, once for all that need them."""
    record: bool = False
    """Whether ``Outcome.lines`` says which line of the program did what."""
    fresh: bool = False
    """Whether it runs in an interpreter of its own, which takes seconds."""
    owned: tuple[str, ...] = ()
    """Folders whose files' lines are recorded, in place of those of the program's text."""
    devices: int = 1
    """On so many virtual devices of the CPU the program runs, at once."""
    probes: tuple[str, ...] = ()
    """In place of ``text``: programs of which only is asked whether they run, in one process, up to the first."""
    probe_seconds: float = 3.0
    """That a probe may take."""
    ends: tuple[str, ...] = ()
    """Failures of a probe after which no other one is run."""


class Failure(msgspec.Struct, frozen=True):
    """Why a program gave no figures: the exception's type, its message, and the program's lines that were at work,
    outermost first; none where the process itself ended."""

    type: str
    message: str
    lines: tuple[int, ...] = ()

    @property
    def line(self) -> int:
        """The innermost of them, 0 if there is none."""
        return self.lines[-1] if self.lines else 0


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What one run left: totals of every metric at the end of the run."""

    totals: dict[str, float] = {}
    fallback_ops: tuple[str, ...] = ()
    graph_breaks: tuple[str, ...] = ()
    """Why dynamo broke the graph."""
    failure: Failure | None = None
    output: str = ""
    """The end of what the program wrote to stdout and stderr."""
    left: str = ""
    """What the program left in the file ``LEFT``, also where it was killed in the midst of it."""
    lines: tuple[LineCounts, ...] = ()
    """By line, where it was asked for; the program's own path is ``PROGRAM``, others are real."""
    short_totals: dict[str, float] = {}
    """Without the steps of the second half, where that was asked for."""
    short_lines: tuple[LineCounts, ...] = ()
    """The same by line."""
    unattributed: Counts = Counts()
    """What no line explains: ``totals`` less ``lines``."""
    last: bool = False
    """Whether the worker ends with this one: what the program left can't be removed."""
    probed: tuple[Failure | None, ...] = ()
    """Of each probe that was run, why it failed."""


class Versions(msgspec.Struct, frozen=True):
    """The first thing a worker says: what the figures were measured on."""

    torch: str
    torch_xla: str
    device: str
    network_off: bool = False
    """Whether programs are cut off from the network; not every system allows it."""


_Message = TypeVar("_Message")


def write(stream: BinaryIO, message: msgspec.Struct) -> None:
    stream.write(framed(message))
    stream.flush()


def framed(message: msgspec.Struct) -> bytes:
    body = msgspec.msgpack.encode(message)
    return len(body).to_bytes(_LENGTH_BYTES, "little") + body


def read(stream: BinaryIO, kind: type[_Message]) -> _Message | None:
    """The next message, or None where the other side is gone."""
    head = stream.read(_LENGTH_BYTES)
    if len(head) < _LENGTH_BYTES:
        return None
    body = whole(head + stream.read(int.from_bytes(head, "little")))
    return msgspec.msgpack.decode(body, type=kind) if body is not None else None


def length(body: bytes) -> int:
    """Of the message with this body."""
    return _LENGTH_BYTES + len(body)


def whole(data: bytes | bytearray) -> bytes | None:
    """The body of the message that ``data`` begins with, or None where it is not all there yet."""
    end = _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], "little")
    return bytes(data[_LENGTH_BYTES:end]) if _LENGTH_BYTES <= len(data) >= end else None
