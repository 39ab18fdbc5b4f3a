"""Observations of the file system: what a run has read, listed and looked for, as far as it matters to it."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Iterable
from typing import TypeAlias

import msgspec

FILE, FOLDER, OTHER = 1, 2, 3
"""What stands at a path. Where nothing can be reached there it is the negative number of the system's error."""
ABSENT = -errno.ENOENT
DANGLING = -errno.ENOLINK
"""A link that leads nowhere."""
UNREAD = b""
"""In place of a digest: the file could not be read."""
TOO_LARGE = b"size"
"""In place of a digest: the file was larger than is read, and only its size matters."""
_SETTLED = 2 * 10**9
"""Nanoseconds. The times of what has changed since may stay the same when it changes again: no clock of a file system
is coarser."""


Stamp: TypeAlias = tuple[int, int, int]
"""Size, and when the content and the status last changed (in nanoseconds; the latter no program can set back), of what
had settled when it was looked at."""


class Seen(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A file that was read. ``stamp`` None: its times can't be trusted, as it had just been written."""

    stamp: Stamp | None
    digest: bytes
    size: int = 0


class Selection(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Which names in a folder matter: those with an ending, folders, and none of ``but``."""

    endings: tuple[str, ...]
    folders: bool = False
    but: tuple[str, ...] = ()


class Listing(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What was found in a folder."""

    folder: str
    selection: Selection
    stamp: Stamp | None
    digest: bytes


class Observations(msgspec.Struct, array_like=True):
    """What a run has seen; all paths are absolute."""

    files: dict[str, Seen] = {}
    kinds: dict[str, int] = {}
    listings: list[Listing] = []
    targets: dict[str, str] = {}
    """Where links lead."""
    search_path: tuple[str, ...] | None = None
    """``sys.path``, where modules of others were looked for."""
    is_torn: bool = False
    """A file was read twice and had changed: the run saw no one state."""

    def note_file(self, path: str, seen: Seen) -> None:
        known = self.files.get(path)
        self.is_torn = self.is_torn or (known is not None and known.digest != seen.digest)
        self.files[path] = seen

    def note_kind(self, path: str, kind: int) -> None:
        self.is_torn = self.is_torn or self.kinds.get(path, kind) != kind
        self.kinds[path] = kind

    def add(self, other: Observations) -> None:
        for path, seen in other.files.items():
            self.note_file(path, seen)
        for path, kind in other.kinds.items():
            self.note_kind(path, kind)
        self.listings += other.listings
        self.targets |= other.targets
        self.search_path = self.search_path or other.search_path
        self.is_torn = self.is_torn or other.is_torn


def kind_at(path: str | os.PathLike[str]) -> int:
    """What stands at a path, links followed."""
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        kind = -(error.errno or errno.EIO)
        return DANGLING if kind == ABSENT and os.path.islink(path) else kind
    except ValueError:  # a null character
        return -errno.EINVAL
    return FILE if stat.S_ISREG(mode) else FOLDER if stat.S_ISDIR(mode) else OTHER


def stamp_at(path: str) -> Stamp | None:
    """That of what has settled, and of nothing else."""
    try:
        return stamp_of(os.stat(path))
    except OSError:
        return None


def stamp_of(status: os.stat_result) -> Stamp | None:
    if time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) < _SETTLED:
        return None
    return (status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def seen_at(path: str) -> Seen | None:
    """A file, read; None where none is."""
    try:
        with open(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
            status = os.fstat(file.fileno())
            return Seen(stamp_of(status), digest(file.read()), status.st_size) if stat.S_ISREG(status.st_mode) else None
    except OSError:
        return Seen(None, UNREAD) if kind_at(path) == FILE else None


def entries_in(folder: str, selection: Selection) -> list[os.DirEntry[str]]:
    """Those that matter, by name. Raises ``OSError``."""
    with os.scandir(folder) as found:
        return sorted((one for one in found if _matters(one, selection)), key=lambda one: one.name)


def listing_at(folder: str, selection: Selection) -> Listing:
    """What is in a folder, or the error of who looks."""
    stamp = stamp_at(folder)
    try:
        return Listing(folder, selection, stamp, digest_of_entries(entries_in(folder, selection)))
    except OSError as error:
        return Listing(folder, selection, None, str(error.errno).encode())


def digest(data: bytes) -> bytes:
    import hashlib  # it loads OpenSSL, for nothing where nothing is noted

    return hashlib.sha256(data).digest()[:16]


def digest_of_entries(entries: Iterable[os.DirEntry[str]]) -> bytes:
    return digest(b"\0".join(_kind_in_folder(one) + os.fsencode(one.name) for one in entries))


def _matters(entry: os.DirEntry[str], selection: Selection) -> bool:
    if entry.name in selection.but:
        return False
    return entry.name.endswith(selection.endings) or (selection.folders and entry.is_dir(follow_symlinks=False))


def _kind_in_folder(entry: os.DirEntry[str]) -> bytes:
    if entry.is_symlink():
        return b"l"
    if entry.is_dir(follow_symlinks=False):
        return b"d"
    return b"f" if entry.is_file(follow_symlinks=False) else b"o"
