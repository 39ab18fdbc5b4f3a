"""How far the processes of a run are, in memory that they share: who reads it knows what is done, and what a dead
process was at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import NamedTuple


class Count(IntEnum):
    """The columns of a process's row."""

    AT = 0
    """The number of the file that it is at; 0 where that is none of the run's."""
    LOWERED = 1
    FUNCTIONS = 2
    """Functions in the files that are lowered."""
    EVALUATED = 3
    """Files."""
    EVALUATED_FUNCTIONS = 4
    FINISHED = 5


_BYTES = 4


class Counted(NamedTuple):
    """How far all processes together are: ``files`` are all of the run, the next three those of them that have come to
    an end of a stage."""

    files: int
    lowered: int
    evaluated: int
    finished: int
    functions: int
    evaluated_functions: int


Follow = Callable[[Callable[[], Counted]], object]
"""Told by what call it can be asked, at any time, how far a run is."""


class Counter:
    """What one process counts. ``numbers`` are those of the run's files."""

    def __init__(self, numbers: dict[str, int], row: memoryview) -> None:
        self.numbers = numbers
        self.row = row

    def begin(self, path: str) -> None:
        self.row[Count.AT] = self.numbers.get(path, 0)

    def add(self, what: Count, number: int = 1) -> None:
        self.row[what] += number


class Counters:
    """The rows of all processes, in ``memory`` of the size that they take."""

    def __init__(self, paths: Sequence[str], memory: memoryview) -> None:
        self.paths = sorted(paths)
        self.numbers = {path: number for number, path in enumerate(self.paths, 1)}
        self.rows = memory.cast("I")

    def of(self, process: int) -> Counter:
        first = len(Count) * process
        return Counter(self.numbers, self.rows[first : first + len(Count)])

    def at(self, process: int) -> str:
        """The file that a process came to last; empty where that is none of the run's."""
        number = self.rows[len(Count) * process + Count.AT]
        return self.paths[number - 1] if number else ""

    def counted(self) -> Counted:
        return Counted(
            len(self.paths),
            self.sum(Count.LOWERED),
            self.sum(Count.EVALUATED),
            self.sum(Count.FINISHED),
            self.sum(Count.FUNCTIONS),
            self.sum(Count.EVALUATED_FUNCTIONS),
        )

    def sum(self, what: Count) -> int:
        return sum(self.rows[what :: len(Count)])


def size_of(processes: int) -> int:
    """The bytes of so many rows."""
    return len(Count) * _BYTES * processes


def uncounted() -> Counter:
    """For who needs not know where a process is."""
    return Counters((), memoryview(bytearray(size_of(1)))).of(0)


def unfollowed(_: Callable[[], Counted]) -> None:
    """For who does not ask."""
