"""Plain data that worker processes send each other: an index of each file, a record of each function."""

from __future__ import annotations

import msgspec

from xlalint.facts.records import RawEvent
from xlalint.facts.regions import FunctionFacts


class Index(msgspec.Struct, frozen=True):
    """What a process tells the others of the files that it lowered."""

    called: dict[str, frozenset[str]]
    """Folder that imports start from → last names of what its files call."""
    imports: dict[str, tuple[str, ...]]
    """File → dotted names that it imports."""
    xla: dict[str, bool] = {}
    """File that runs with torch_xla → whether those that it imports do, too."""
    cuda: dict[str, str] = {}
    """File that can't be imported without a GPU → the package that wants it."""
    roots: dict[str, str] = {}
    """File → the folder that its imports start from."""


class Evaluated(msgspec.Struct, frozen=True, array_like=True):
    """One function's record, in plain data."""

    facts: FunctionFacts
    events: tuple[RawEvent, ...]
