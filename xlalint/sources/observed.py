"""The file system as a run sees it: whatever is read, listed or looked for goes through here, and can be noted, so that
a later run knows whether it would see the same."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from xlalint.sources.observations import (
    FILE,
    FOLDER,
    TOO_LARGE,
    UNREAD,
    Listing,
    Observations,
    Seen,
    Selection,
    digest,
    digest_of_entries,
    entries_in,
    kind_at,
    listing_at,
    seen_at,
    stamp_at,
    stamp_of,
)

_noted: Observations | None = None


@contextmanager
def observing() -> Iterator[Observations]:
    """Note what is seen in this block; a block within it notes on in the same place."""
    global _noted
    before = _noted
    _noted = before if before is not None else Observations()
    try:
        yield _noted
    finally:
        _noted = before


def noted() -> Observations | None:
    return _noted


def begin_anew() -> None:
    """In a process that was forked: what its parent has seen is the parent's to tell."""
    global _noted
    if _noted is not None:
        _noted = Observations()


def add(other: Observations | None) -> None:
    """What another process has seen."""
    if _noted is not None and other is not None:
        _noted.add(other)


# Looking


def is_file(path: str) -> bool:
    return kind_of(path) == FILE


def is_folder(path: str) -> bool:
    return kind_of(path) == FOLDER


def exists(path: str) -> bool:
    return kind_of(path) > 0


def kind_of(path: str) -> int:
    """What stands at a path, links followed."""
    kind = kind_at(path)
    if _noted is not None:
        _noted.note_kind(os.path.abspath(path), kind)
    return kind


def real_path(path: str) -> str:
    target = os.path.realpath(path)
    if _noted is not None:
        _noted.targets[os.path.abspath(path)] = target
    return target


def content(path: str) -> bytes:
    """All bytes of a file. Raises ``OSError``."""
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            data = file.read()
    except OSError:
        note_unread(path)
        raise
    note_read(path, status, data)
    return data


def entries(folder: str, selection: Selection) -> list[os.DirEntry[str]]:
    """Those in a folder that matter, by name. Raises ``OSError``."""
    if _noted is None:
        return entries_in(folder, selection)
    folder = os.path.abspath(folder)
    stamp = stamp_at(folder)
    try:
        found = entries_in(folder, selection)
    except OSError:
        _noted.listings.append(listing_at(folder, selection))
        raise
    _noted.listings.append(Listing(folder, selection, stamp, digest_of_entries(found)))
    return found


# Noting


def note_read(path: str | os.PathLike[str], status: os.stat_result, data: bytes | None) -> None:
    """A file was read that had this status before; ``data`` None: it was too large."""
    if _noted is not None:
        found = TOO_LARGE if data is None else digest(data)
        _noted.note_file(os.path.abspath(path), Seen(stamp_of(status), found, status.st_size))


def note_unread(path: str | os.PathLike[str]) -> None:
    """A file could not be read."""
    if _noted is not None:
        path = os.path.abspath(path)
        _noted.note_kind(path, kind_at(path))
        if _noted.kinds[path] == FILE:
            _noted.note_file(path, Seen(None, UNREAD))


def note_files(paths: Iterable[str]) -> None:
    """Files on which the run depends though it need not read them."""
    for path in map(os.path.abspath, paths) if _noted is not None else ():
        seen = seen_at(path)
        if seen is None:
            kind_of(path)
        elif _noted is not None:
            _noted.note_file(path, seen)


def note_search_path(path: Sequence[str]) -> None:
    if _noted is not None:
        _noted.search_path = tuple(path)
