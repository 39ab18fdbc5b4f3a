"""What the device did, in numbers: in all, or while one line was at work."""

from __future__ import annotations

import msgspec


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """What the device did."""

    compiles: int = 0
    executions: int = 0
    reads: int = 0
    uploads: int = 0
    fallbacks: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(**{name: getattr(self, name) + getattr(other, name) for name in self.__struct_fields__})

    def __sub__(self, other: Counts) -> Counts:
        return Counts(**{name: getattr(self, name) - getattr(other, name) for name in self.__struct_fields__})


class LineCounts(msgspec.Struct, frozen=True, kw_only=True):
    """What the device did while one line of the user's was the innermost at work."""

    path: str
    line: int
    function: str
    compiles: int = 0
    executions: int = 0
    reads: int = 0
    uploads: int = 0
    fallbacks: int = 0
