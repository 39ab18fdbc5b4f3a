"""Caches query results between runs: one file per version of a package, dropped when a file it read has changed."""

from __future__ import annotations

import hashlib
import os
from functools import cache
from typing import Any

import msgspec

from xlalint.facts.external import Cost, ExternalSummary
from xlalint.facts.kinds import SignKind
from xlalint.installed.packing import pack, unpack

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
DIGEST = 16
"""Bytes."""
DECODER = msgspec.msgpack.Decoder(Shelf)
ENCODER = msgspec.msgpack.Encoder()


class Store:
    """The shelves of one folder of packages. ``cache`` None: nothing is read or written."""

    def __init__(self, folder: str, package: str, version: str, cache: str | None) -> None:
        self.folder = folder
        name = f"{package}-{version or 'unknown'}.msgpack"
        self.path = None if cache is None else os.path.join(cache, "packages", name)
        self.shelf = self.read() or Shelf(fingerprint(), {}, {}, {})
        self.changed = False

    def read(self) -> Shelf | None:
        """What an earlier run left, if it still holds."""
        if self.path is None:
            return None
        try:
            with open(self.path, "rb") as file:
                shelf = opened(file.read())
        except OSError:
            return None
        if shelf is None:
            return None
        current = shelf.linter == fingerprint() and all(
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
        if self.path is None or not self.changed:
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
        beside = f"{self.path}.{os.getpid()}"
        try:
            os.makedirs(os.path.dirname(self.path), exist_ok=True)
            with open(beside, "wb") as file:
                file.write(sealed(self.shelf))
            os.replace(beside, self.path)
        except (OSError, ValueError, OverflowError):  # what holds a number or a text that can't be written
            return


def sealed(shelf: Shelf) -> bytes:
    """A shelf as it is written: its text behind the digest of it."""
    data = ENCODER.encode(shelf)
    return digest(data) + data


def opened(data: bytes) -> Shelf | None:
    """The inverse; None for what is not as it was written, be it a byte: then all of it is found out anew."""
    seal, text = data[:DIGEST], data[DIGEST:]
    if seal != digest(text):
        return None
    try:
        return DECODER.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=DIGEST).digest()


def stamp(path: str) -> Stamp:
    try:
        found = os.stat(path)
    except OSError:
        return (-1, -1)
    return (found.st_size, found.st_mtime_ns)


@cache
def fingerprint() -> str:
    """Which xlalint this is, by the stamps of the files that its answers depend on."""
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    found = hashlib.sha256()
    for part in ("facts", "installed", "knowledge", "program"):
        for folder, inner, names in os.walk(os.path.join(own, part)):
            inner[:] = sorted(name for name in inner if name != "__pycache__")
            for name in sorted(names):
                path = os.path.join(folder, name)
                found.update(f"{os.path.relpath(path, own)} {stamp(path)}".encode())
    return found.hexdigest()
