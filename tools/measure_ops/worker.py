"""Work in forked children: they may touch the device, hang and crash; the parent never touches it.

A fork taken after a device was initialised hangs for good, so the parent only imports.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

ALARM = 90
"""Seconds that one item may take before it is interrupted."""
PATIENCE = ALARM + 20
"""Seconds of silence after which a child is killed: an alarm does not wake native code."""


class TookTooLongError(Exception):
    """Raised in the child by the alarm."""


def in_children(
    items: Sequence[str], work: Callable[[str], dict[str, Any]], batch: int = 40
) -> Iterator[tuple[str, dict[str, Any]]]:
    """``(item, record)`` in order; the record of an item that killed or stopped its child is ``{"died": how}``."""
    place = 0
    while place < len(items):
        done = 0
        for record in _child(items[place : place + batch], work):
            yield items[place + done], record
            done += 1
        place += done


def _child(items: Sequence[str], work: Callable[[str], dict[str, Any]]) -> Iterator[dict[str, Any]]:
    reader, writer = os.pipe()
    sys.stdout.flush()
    process = os.fork()
    if process == 0:
        os.close(reader)
        _serve(items, work, writer)
    os.close(writer)
    received = 0
    how = "crashed"
    buffer = b""
    last = time.monotonic()
    while True:
        ready, _, _ = select.select([reader], [], [], 1.0)
        if ready:
            chunk = os.read(reader, 1 << 16)
            if not chunk:
                break
            *lines, buffer = (buffer + chunk).split(b"\n")
            for line in lines:
                last = time.monotonic()
                received += 1
                yield json.loads(line)
        elif time.monotonic() - last > PATIENCE:
            os.kill(process, signal.SIGKILL)
            how = "hung"
    os.close(reader)
    os.waitpid(process, 0)
    if received < len(items):
        yield {"died": how}


def _serve(items: Sequence[str], work: Callable[[str], dict[str, Any]], writer: int) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)

    def interrupt(_signal: int, _frame: object) -> None:
        raise TookTooLongError

    signal.signal(signal.SIGALRM, interrupt)
    for item in items:
        signal.alarm(ALARM)
        try:
            record = work(item)
        except BaseException as error:
            record = {"failed": f"{type(error).__name__}: {str(error)[:200]}"}
        signal.alarm(0)
        os.write(writer, json.dumps(record).encode() + b"\n")
    os._exit(0)
