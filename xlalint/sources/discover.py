"""Discovers the files to lint: walks folders in sorted order, and takes named files as they are."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from xlalint.sources import observed
from xlalint.sources.ignored import (
    Excludes,
    ExcludesFor,
    Pattern,
    decided,
    excluded_with_parents,
    gitignore_above,
    gitignore_in,
    pattern_of,
    plain_names,
)
from xlalint.sources.observations import Selection
from xlalint.sources.read import NOTEBOOK, is_notebook, reason_of


class Found(msgspec.Struct, frozen=True):
    """One file to lint. ``shown`` is relative to the working directory, with ``/``; ``named`` by the user himself."""

    path: str
    shown: str
    named: bool


class Refused(msgspec.Struct, frozen=True):
    """A path that can't be linted, and why, in one line."""

    shown: str
    reason: str


class Discovered(msgspec.Struct, frozen=True):
    """``files`` sorted by path, each once; ``missing`` are named paths that are not there.

    ``too_many`` where the search was given up: then there are no files."""

    files: tuple[Found, ...]
    missing: tuple[str, ...]
    refused: tuple[Refused, ...]
    too_many: bool = False


def shown(path: str) -> str:
    """A path as the user sees it: relative to the working directory, ``/`` as separator, always printable."""
    try:
        relative = os.path.relpath(path)
    except ValueError:  # another drive
        relative = path
    # File names are bytes; what is no UTF-8 must neither crash the output nor make two names one.
    return os.fsencode(relative).decode("utf-8", "backslashreplace").replace(os.sep, "/")


FOLDERS_A_FILE = 4
"""Folders that are searched for each file that may be found."""


class _TooMany(Exception):
    """There are more files than are wanted."""


def discover(paths: Iterable[Path], excludes_for: ExcludesFor, most: int | None = None) -> Discovered:
    """All files that ``paths`` stand for. Symbolic links to folders are not followed below a named path. The search is
    given up where there are more than ``most`` files, or many more folders."""
    walk = _Walk(excludes_for, most)
    try:
        for path in paths:
            walk.take_named(os.path.abspath(path))
        found = walk.result()
    except _TooMany:
        found = None
    if found is None or (most is not None and len(found.files) > most):
        return Discovered((), (), (), too_many=True)
    return found


class _Walk:
    """The state of one discovery."""

    def __init__(self, excludes_for: ExcludesFor, most: int | None) -> None:
        self._excludes_for = excludes_for
        self._most = most
        self._folders = 0
        self._found: dict[str, Found] = {}
        self._missing: list[str] = []
        self._refused: dict[str, Refused] = {}
        self._patterns: dict[Excludes, tuple[Pattern, ...]] = {}

    def take_named(self, path: str) -> None:
        try:
            is_folder = observed.is_folder(path)
            os.stat(path)
        except (OSError, ValueError) as error:
            gone = isinstance(error, OSError) and error.errno in (errno.ENOENT, errno.ENOTDIR)
            self._missing.append(shown(path) if gone else f"{shown(path)} ({reason_of(error)})")
            return
        excludes = self._excludes_for(path if is_folder else os.path.dirname(path))
        if excludes.force and excluded_with_parents(excludes, path):
            return
        if is_folder:
            self._walk(path)
        elif is_notebook(path):
            self._refuse(path, NOTEBOOK)
        else:
            self._found[path] = Found(path, shown(path), named=True)

    def result(self) -> Discovered:
        files = sorted(self._without_linked_twins(), key=lambda found: found.shown)
        refused = sorted(self._refused.values(), key=lambda one: one.shown)
        return Discovered(tuple(files), tuple(dict.fromkeys(self._missing)), tuple(refused))

    def _walk(self, top: str) -> None:
        above = gitignore_above(top)
        # Who names an ignored folder wants what is in it.
        if decided(above, top, True):
            above = ()
        waiting: list[tuple[str, tuple[Pattern, ...]]] = [(top, above)]
        while waiting:
            folder, outer = waiting.pop()
            self._folders += 1
            if self._most is not None and max(len(self._found), self._folders // FOLDERS_A_FILE) > self._most:
                raise _TooMany
            excludes = self._excludes_for(folder)
            ignored = (*outer, *gitignore_in(folder)) if excludes.gitignore else ()
            out = self._excluded(excludes)
            for entry in self._entries(folder, plain_names(excludes)):
                is_folder = entry.is_dir(follow_symlinks=False)
                if any(pattern(entry.path, is_folder) for pattern in out) or decided(ignored, entry.path, is_folder):
                    continue
                if is_folder:
                    waiting.append((entry.path, ignored))
                else:
                    self._take_entry(entry)

    def _entries(self, folder: str, but: tuple[str, ...]) -> Sequence[os.DirEntry[str]]:
        try:
            return observed.entries(folder, Selection((".py",), folders=True, but=but))
        except OSError as error:
            self._refuse(folder, reason_of(error))
            return ()

    def _take_entry(self, entry: os.DirEntry[str]) -> None:
        if entry.is_symlink():
            observed.kind_of(entry.path)
        try:
            if entry.is_file():
                self._found.setdefault(entry.path, Found(entry.path, shown(entry.path), named=False))
            elif entry.is_dir():
                return  # a link to a folder that is called like a module
            else:
                os.stat(entry.path)  # raises for a link that leads nowhere
                self._refuse(entry.path, "is not a regular file")
        except OSError as error:
            self._refuse(entry.path, _broken_link(error))

    def _refuse(self, path: str, reason: str) -> None:
        self._refused[path] = Refused(shown(path), reason)

    def _excluded(self, excludes: Excludes) -> tuple[Pattern, ...]:
        if excludes not in self._patterns:
            self._patterns[excludes] = tuple(map(pattern_of, excludes.globs))
        return self._patterns[excludes]

    def _without_linked_twins(self) -> list[Found]:
        """A link is dropped where its target is linted as well: one finding, not two."""
        return [
            found
            for found in self._found.values()
            if found.named
            or not os.path.islink(found.path)
            or not self._stands_elsewhere(found.path, observed.real_path(found.path))
        ]

    def _stands_elsewhere(self, link: str, target: str) -> bool:
        return target != link and target in self._found


def _broken_link(error: OSError) -> str:
    if error.errno == errno.ELOOP:
        return "is a symbolic link that leads in a circle"
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return "is a broken symbolic link"
    return reason_of(error)
