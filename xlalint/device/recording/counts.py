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


class Amounts(msgspec.Struct, frozen=True, kw_only=True):
    """What the counts come to."""

    compile_seconds: float = 0
    read_bytes: int = 0
    uploaded_bytes: int = 0
    fallback_ops: dict[str, int] = {}
    """How often each op fell back to the host."""

    def __add__(self, other: Amounts) -> Amounts:
        names = (*self.fallback_ops, *other.fallback_ops)
        return Amounts(
            compile_seconds=self.compile_seconds + other.compile_seconds,
            read_bytes=self.read_bytes + other.read_bytes,
            uploaded_bytes=self.uploaded_bytes + other.uploaded_bytes,
            fallback_ops={name: self.fallback_ops.get(name, 0) + other.fallback_ops.get(name, 0) for name in names},
        )
