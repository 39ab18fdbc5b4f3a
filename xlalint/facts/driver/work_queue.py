"""The queue of files to evaluate: each process takes its own first, then what others have not reached.

No weight tells beforehand how long a file takes: by their text, shares of a real package differ by a tenth in two
processes and by a half in four. Who takes a file changes nothing in what is found, since every query is pure.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Callable, Iterator, Sequence

_NUMBER = struct.Struct("=I")
_MOST_TURNS = 1000
"""Turns that one share is dealt in: their numbers must fit in a pipe that nobody reads yet, of 4096 bytes at least."""


class WorkQueue:
    """The files of one share. A pipe holds the numbers of its turns, and hands each to one reader of whatever process:
    made before the processes are forked, it needs no lock."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = paths
        self.turn = max(1, -(-len(paths) // _MOST_TURNS))
        self.reader, writer = os.pipe()
        os.write(writer, b"".join(_NUMBER.pack(first) for first in range(0, len(paths), self.turn)))
        os.close(writer)

    def __iter__(self) -> Iterator[str]:
        while taken := os.read(self.reader, _NUMBER.size):
            (first,) = _NUMBER.unpack(taken)
            yield from self.paths[first : first + self.turn]

    def close(self) -> None:
        os.close(self.reader)


class Positions:
    """The file that each process is at, in memory that they share: who reads it knows what a dead one was at."""

    def __init__(self, paths: Sequence[str], processes: int) -> None:
        self.paths = paths
        self.numbers = {path: number for number, path in enumerate(paths, 1)}
        self.shared = mmap.mmap(-1, _NUMBER.size * processes)

    def of(self, process: int) -> Callable[[str], None]:
        """What a process calls when it comes to a file."""

        def begin(path: str) -> None:
            _NUMBER.pack_into(self.shared, _NUMBER.size * process, self.numbers.get(path, 0))

        return begin

    def at(self, process: int) -> str:
        """The file that a process came to last; empty where that is none of these."""
        (number,) = _NUMBER.unpack_from(self.shared, _NUMBER.size * process)
        return self.paths[number - 1] if number else ""


def taken_by(number: int, shares: Sequence[WorkQueue]) -> Iterator[str]:
    """The files that fall to a process, while they last."""
    for share in (*shares[number:], *shares[:number]):
        yield from share
