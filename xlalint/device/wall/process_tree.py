"""Processes, threads and memory of all that a process has started, looked at from outside (Linux)."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

_EXACT_EACH = 0.25
"""Seconds between two exact counts of memory, which take milliseconds a process."""
_MOST = 10_000
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


class Load(NamedTuple):
    tasks: int
    """Processes and threads."""
    memory: int
    """Bytes of their pages; one that several of them share is counted for each."""


class ProcessTree:
    """What ``root`` has started, itself included."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._before: frozenset[int] = frozenset()
        self._looked = 0.0

    def begin(self) -> None:
        """Who is there now does not count."""
        self._before = frozenset(self.pids())

    def grown(self, tasks: int, memory: int) -> Load:
        """Of who came since ``begin``. Where the pages seem to be more than ``memory``, shared ones count once; beyond
        ``tasks`` nobody counts on: who multiplies is faster."""
        new = [pid for pid in self.pids(len(self._before) + tasks) if pid not in self._before]
        found = _load(new) if len(new) <= tasks else Load(len(new), 0)
        if found.memory <= memory:
            return found
        now = time.monotonic()
        if now - self._looked < _EXACT_EACH:
            return Load(found.tasks, 0)
        self._looked = now
        return Load(found.tasks, sum(map(_share, new)))

    def pids(self, most: int = _MOST) -> list[int]:
        """Some more than ``most`` of them at the most."""
        found = [self._root]
        for pid in found:
            found += _children(pid)
            if len(found) > most:
                break
        return found

    def kill(self, *, with_first: bool) -> None:
        """``with_first``: they all end with those who were there first, as behind a wall, and need not be looked up."""
        for pid in sorted(self._before) if with_first and self._before else self.pids():
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)


def _children(pid: int) -> Iterator[int]:
    """Each thread has its own."""
    with suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with suppress(OSError), open(f"/proc/{pid}/task/{task}/children") as file:
                yield from map(int, file.read().split())


def _load(pids: list[int]) -> Load:
    tasks = pages = 0
    for pid in pids:
        with suppress(OSError):
            tasks += len(os.listdir(f"/proc/{pid}/task"))
            with open(f"/proc/{pid}/statm") as file:
                pages += int(file.read().split()[1])
    return Load(tasks, pages * _PAGE)


def _share(pid: int) -> int:
    """Bytes, of a page that several processes have only its part."""
    with suppress(OSError), open(f"/proc/{pid}/smaps_rollup") as file:
        for line in file:
            if line.startswith("Pss:"):
                return int(line.split()[1]) << 10
    return 0
