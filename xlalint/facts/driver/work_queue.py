"""The queue of files to evaluate: each process takes its own first, then what others have not reached.

No weight tells beforehand how long a file takes: by their text, shares of a real package differ by a tenth in two
processes and by a half in four. Who takes a file changes nothing in what is found, since every query is pure.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence

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


def taken_by(number: int, shares: Sequence[WorkQueue]) -> Iterator[str]:
    """The files that fall to a process, while they last."""
    for share in (*shares[number:], *shares[:number]):
        yield from share
