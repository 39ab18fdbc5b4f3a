"""Caches query results between runs: one entry per version of a package, dropped when a file it read has changed."""

from __future__ import annotations

import os
from typing import Any

import msgspec

from xlalint.cache.folder import CacheFolder, Unusable
from xlalint.cache.version import version_of_tool
from xlalint.facts.external import Cost, ExternalSummary
from xlalint.facts.kinds import SignKind
from xlalint.installed.packing import pack, unpack
from xlalint.sources import observed

Stamp = tuple[int, int]
"""Size and time of the last change, of a file."""


class Kept(msgspec.Struct, frozen=True, array_like=True):
    """A summary or a kind as it is written down."""

    value: Any
    cost: Cost | None
    signs: tuple[SignKind, ...]


class Shelf(msgspec.Struct, array_like=True):
    """The cached results of one version of a package: ``linter`` identifies the xlalint that made them."""

    linter: str
    files: dict[str, Stamp]
    """Those that were read, by path from the folder with the package."""
    kinds: dict[str, str]
    answers: dict[str, Kept | None]


MOST = 5_000
"""Answers that are kept of a package: the latest."""
ROOM = "packages"
DECODER = msgspec.msgpack.Decoder(Shelf)
ENCODER = msgspec.msgpack.Encoder()


class Store:
    """The shelves of one folder of packages. ``cache`` None: nothing is read or written."""

    def __init__(self, folder: str, package: str, version: str, cache: CacheFolder | None) -> None:
        self.folder = folder
        self.name = f"{package}-{version or 'unknown'}"
        self.cache = cache
        self.shelf = self.read() or Shelf(version_of_tool(), {}, {}, {})
        self.changed = False
        observed.note_files(os.path.join(folder, name) for name in self.shelf.files)

    def read(self) -> Shelf | None:
        """What an earlier run left, if it still holds."""
        if self.cache is None:
            return None
        try:
            text = self.cache.read(ROOM, self.name)
            shelf = None if text is None else DECODER.decode(text)
        except (Unusable, msgspec.DecodeError, UnicodeDecodeError):
            return None
        if shelf is None:
            return None
        current = shelf.linter == version_of_tool() and all(
            stamp(os.path.join(self.folder, name)) == known for name, known in shelf.files.items()
        )
        return shelf if current else None

    def kind(self, name: str) -> str | None:
        return self.shelf.kinds.get(name)

    def put_kind(self, name: str, kind: str) -> None:
        self.shelf.kinds[name] = kind
        self.changed = True

    def has(self, question: str) -> bool:
        return question in self.shelf.answers

    def get(self, question: str) -> ExternalSummary | None:
        kept = self.shelf.answers[question]
        return None if kept is None else ExternalSummary(unpack(kept.value), kept.cost, kept.signs)

    def put(self, question: str, answer: ExternalSummary | None) -> ExternalSummary | None:
        """The answer as it will be given from now on: what can't be kept is unknown in this run, too."""
        kept = None if answer is None else Kept(pack(answer.value), answer.cost, answer.signs)
        self.shelf.answers[question] = kept
        self.changed = True
        return self.get(question)

    def write(self, files: list[str]) -> None:
        """Add what this run found out. Where that isn't possible, the next run finds it out again."""
        if self.cache is None or not self.changed:
            return
        self.shelf.files.update((name, stamp(os.path.join(self.folder, name))) for name in files)
        other = self.read()
        if other is not None:
            # Another process may have written in between.
            self.shelf.files = {**other.files, **self.shelf.files}
            self.shelf.kinds = {**other.kinds, **self.shelf.kinds}
            self.shelf.answers = {**other.answers, **self.shelf.answers}
        self.shelf.answers = dict(list(self.shelf.answers.items())[-MOST:])
        self.changed = False
        try:
            self.cache.write(ROOM, self.name, ENCODER.encode(self.shelf))
        except (Unusable, ValueError, OverflowError):  # what holds a number or a text that can't be written
            return


def stamp(path: str) -> Stamp:
    try:
        found = os.stat(path)
    except OSError:
        return (-1, -1)
    return (found.st_size, found.st_mtime_ns)
