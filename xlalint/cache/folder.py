"""The folder of what is kept between runs: whose it may be, how entries are read and written, and which go first."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Iterator

ROOMS = ("packages", "runs")
"""Its folders: what was found out of installed packages, and whole runs."""
ENDING = ".msgpack"
MOST_BYTES = 500_000_000
"""Beyond this the entries go that were used longest ago."""
_PART = ".part"
"""The ending of what is being written."""
_ABANDONED = 3600.0
"""Seconds after which nobody writes on."""
_USED_AGAIN = 3600.0
"""Seconds after which another use of an entry is noted."""
_TAG = "CACHEDIR.TAG"
_TAG_TEXT = b"Signature: 8a477f597d28d172789f06886806bc55\n# A cache of xlalint, which backups may leave out.\n"
"""In each room, so that backups leave it out, and nothing else is taken for one."""
_IGNORED = ".gitignore"
_IGNORED_TEXT = b"# Made by xlalint.\n*\n"
"""In a folder that was made for the cache."""
_SEAL = 16


class Unusable(Exception):
    """The folder, or an entry of it, can't be used. The message is one line."""


def default_folder() -> str:
    """``XLALINT_CACHE_DIR``, or the user's own folder for such things."""
    named = os.environ.get("XLALINT_CACHE_DIR")
    if named:
        return os.path.abspath(named)
    from platformdirs import user_cache_dir

    return user_cache_dir("xlalint", appauthor=False)


class CacheFolder:
    """The folder ``path`` (absolute), made where it is not there. Raises ``Unusable`` where that can't be, or where
    others may write to it."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            self._make()
            for folder in (path, *map(self.room, ROOMS)):
                reason = refusal(os.stat(folder))
                if reason:
                    raise Unusable(f"the cache folder {folder} is not used: {reason}")
        except OSError as error:
            raise Unusable(f"the cache folder {path} is not used: {error.strerror or error}") from error

    def room(self, name: str) -> str:
        return os.path.join(self.path, name)

    def _make(self) -> None:
        """All at once: a folder that came to be in the middle of a run could be taken for a change of the project."""
        is_new = not os.path.isdir(self.path)
        for room in map(self.room, ROOMS):
            os.makedirs(room, mode=0o700, exist_ok=True)
            if not is_room(room):
                if not all(name.endswith((ENDING, _PART)) for name in os.listdir(room)):
                    raise Unusable(f"the cache folder {self.path} is not used: {room} holds something else")
                write_whole(os.path.join(room, _TAG), _TAG_TEXT)
        if is_new:
            write_whole(os.path.join(self.path, _IGNORED), _IGNORED_TEXT)

    def read(self, room: str, name: str) -> bytes | None:
        """An entry as it was written; None where there is none. Raises ``Unusable`` for one that is damaged."""
        path = os.path.join(self.room(room), name + ENDING)
        try:
            with open(path, "rb") as file:
                status = os.fstat(file.fileno())
                data = file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Unusable(f"{path} in the cache can't be read: {error.strerror or error}") from error
        text = unsealed(data)
        if text is None:
            raise Unusable(f"{path} in the cache is damaged, and made anew")
        if time.time() - status.st_mtime > _USED_AGAIN:
            with contextlib.suppress(OSError):
                os.utime(path)
        return text

    def write(self, room: str, name: str, text: bytes) -> None:
        """Write an entry whole or not at all, and let go of what is too much. Raises ``Unusable``."""
        path = os.path.join(self.room(room), name + ENDING)
        try:
            write_whole(path, sealed(text))
        except OSError as error:
            raise Unusable(f"the cache folder {self.path} can't be written to: {error.strerror or error}") from error
        self.prune()

    def prune(self, most: int = MOST_BYTES) -> None:
        """Remove what was abandoned half-written, and, beyond ``most`` bytes, the entries used longest ago."""
        now = time.time()
        entries = []
        for path, status in self.entries():
            if path.endswith(_PART):
                if now - status.st_mtime > _ABANDONED:
                    _remove(path)
            else:
                entries.append((status.st_mtime, path, status.st_size))
        total = sum(size for _, _, size in entries)
        for _, path, size in sorted(entries):
            if total <= most:
                break
            total -= size
            _remove(path)

    def entries(self) -> Iterator[tuple[str, os.stat_result]]:
        return (entry for name in ROOMS for entry in _entries(self.room(name)))


def cleared(path: str) -> int | None:
    """Remove what a cache has in this folder, and nothing else; gives the number of bytes, or None where there is no
    cache. Raises ``OSError``."""
    rooms = [room for name in ROOMS if is_room(room := os.path.join(path, name))]
    total = 0
    for room in rooms:
        for entry, status in _entries(room):
            os.unlink(entry)
            total += status.st_size
        os.unlink(os.path.join(room, _TAG))
    if _holds(os.path.join(path, _IGNORED), _IGNORED_TEXT):
        os.unlink(os.path.join(path, _IGNORED))
    for folder in (*rooms, path) if rooms else ():
        with contextlib.suppress(OSError):  # it holds what is not ours
            os.rmdir(folder)
    return total if rooms else None


def is_room(folder: str) -> bool:
    """Whether a folder was made for entries of a cache."""
    return _holds(os.path.join(folder, _TAG), _TAG_TEXT)


def _entries(room: str) -> Iterator[tuple[str, os.stat_result]]:
    """All that was written to a room, with what is half-written. Others may remove some of it meanwhile."""
    for name in os.listdir(room):
        if name.endswith((ENDING, _PART)):
            with contextlib.suppress(FileNotFoundError):
                yield os.path.join(room, name), os.lstat(os.path.join(room, name))


def _holds(path: str, text: bytes) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(len(text) + 1) == text
    except OSError:
        return False


def default_cache() -> CacheFolder | None:
    """The default folder; None where it can't be used, which ``xlalint check`` tells."""
    try:
        return CacheFolder(default_folder())
    except Unusable:
        return None


def refusal(status: os.stat_result) -> str:
    """Why a folder can't be trusted with what runs read back; empty where it can."""
    if not stat.S_ISDIR(status.st_mode):
        return "it is no folder"
    if not hasattr(os, "getuid"):
        return ""
    if status.st_uid != os.getuid():
        return "it belongs to another user"
    # A group of the user's own has his number, where each has one.
    is_shared = status.st_mode & stat.S_IWGRP and status.st_gid != status.st_uid
    return "others may write to it" if is_shared or status.st_mode & stat.S_IWOTH else ""


def write_whole(path: str, data: bytes) -> None:
    """Write a file so that others see all of it or none. Raises ``OSError``."""
    beside = f"{path}.{os.getpid()}-{time.monotonic_ns()}{_PART}"
    try:
        with open(beside, "xb") as file:
            file.write(data)
        os.replace(beside, path)
    except BaseException:
        _remove(beside)
        raise


def sealed(text: bytes) -> bytes:
    """A text behind the digest of it."""
    return _digest(text) + text


def unsealed(data: bytes) -> bytes | None:
    """The inverse; None for what is not as it was written, be it a byte."""
    seal, text = data[:_SEAL], data[_SEAL:]
    return text if seal == _digest(text) else None


def _digest(data: bytes) -> bytes:
    import hashlib  # it loads OpenSSL, which most commands can do without

    return hashlib.blake2b(data, digest_size=_SEAL).digest()


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)
