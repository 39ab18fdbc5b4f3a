"""The lines of files that changed since a revision of git, by git's own account of them."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec

from xlalint.sources.patterns import lazy_pattern

# What a hook of git sets for its own commands would lead ours to another repository or index.
_OF_HOOKS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_EXTERNAL_DIFF")
_HUNK = lazy_pattern(r"@@ -\d+(?:,\d+)? \+(?P<line>\d+)(?:,(?P<count>\d+))? @@")
_ESCAPED = lazy_pattern(rb"\\([0-7]{3}|.)")
_LETTERS = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}
_MERGE_BASE = "..."
# Whatever the user's configuration makes of a difference otherwise.
_PLAIN_DIFF = (
    "--unified=0",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--find-renames",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "--no-relative",
    "--ignore-submodules=all",
)


class NoChanges(Exception):
    """What changed can't be told. The message is one line."""


class Changes(msgspec.Struct, frozen=True):
    """Of one repository: the tracked files, and the lines of each that changed. Paths are absolute, links resolved."""

    tracked: frozenset[str]
    lines: dict[str, tuple[range, ...]]

    def touches(self, path: str, first: int, last: int) -> bool:
        """Whether a line from ``first`` to ``last`` changed; a file that git does not track is new."""
        if path not in self.tracked:
            return True
        return any(one.start <= last and first < one.stop for one in self.lines.get(path, ()))


class ChangesSince:
    """The changes since one revision, asked for once in each repository."""

    def __init__(self, revision: str) -> None:
        self._revision = revision
        self._tops: dict[str, str] = {}
        self._changes: dict[str, Changes] = {}

    def of(self, path: str) -> Changes:
        """The changes of the repository that ``path``, a file or a folder, lies in. Raises ``NoChanges``."""
        real = os.path.realpath(path)
        folder = real if os.path.isdir(real) else os.path.dirname(real)
        if folder not in self._tops:
            self._tops[folder] = _top(folder)
        top = self._tops[folder]
        if top not in self._changes:
            self._changes[top] = _changes(top, self._revision)
        return self._changes[top]


def _changes(top: str, revision: str) -> Changes:
    since = _commit(top, revision)
    tracked = _git(top, "ls-files", "-z", "--full-name").split(b"\0")
    diff = _git(top, "diff", *_PLAIN_DIFF, since, "--")
    lines: dict[str, list[range]] = {}
    for name, changed in _hunks(diff):
        lines.setdefault(_absolute(top, name), []).append(changed)
    names = frozenset(_absolute(top, name) for name in tracked if name)
    return Changes(names, {path: tuple(ranges) for path, ranges in lines.items()})


def _hunks(diff: bytes) -> Iterator[tuple[bytes, range]]:
    """The names of files and the lines that are new in them."""
    name = b""
    left = 0
    for line in diff.split(b"\n"):
        if left and line[:1] in (b"+", b"-"):
            left -= 1  # text, which may look like a header
        elif line.startswith(b"+++ "):
            name = _unquoted(line[4:]).removeprefix(b"b/")
        elif (match := _HUNK.match(line.decode("ascii", "replace"))) is not None:
            first, count = int(match["line"]), int(match["count"] or 1)
            left = count + _removed(match)
            if count:
                yield name, range(first, first + count)


def _removed(match: re.Match[str]) -> int:
    old = match[0].split(" ")[1]
    return int(old.partition(",")[2] or 1)


def _unquoted(name: bytes) -> bytes:
    if not name.startswith(b'"'):
        return name.rstrip(b"\t")
    inner = name.rstrip(b"\t")[1:-1]
    return _ESCAPED.sub(
        lambda one: bytes([int(one[1], 8)]) if len(one[1]) == 3 else _LETTERS.get(one[1], one[1]), inner
    )


def _absolute(top: str, name: bytes) -> str:
    return os.path.realpath(os.path.join(top, os.fsdecode(name)))


def _top(folder: str) -> str:
    while not os.path.isdir(folder):
        folder = os.path.dirname(folder)
    try:
        return os.path.realpath(os.fsdecode(_git(folder, "rev-parse", "--show-toplevel").removesuffix(b"\n")))
    except _Refused as error:
        raise NoChanges(f"{Path(folder).as_posix()} is in no git repository ({error})") from error


def _commit(top: str, revision: str) -> str:
    wanted = revision.removesuffix(_MERGE_BASE)
    try:
        commit = _git(top, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{wanted}^{{commit}}")
        if revision.endswith(_MERGE_BASE):
            commit = _git(top, "merge-base", commit.decode().strip(), "HEAD")
    except _Refused as error:
        is_shallow = os.path.exists(os.path.join(top, ".git", "shallow"))
        shallow = " (the clone is shallow: fetch more of its history)" if is_shallow else ""
        raise NoChanges(f"`{revision}` is no revision of the git repository {top}{shallow}") from error
    return commit.decode().strip()


class _Refused(Exception):
    pass


def _git(folder: str, *arguments: str) -> bytes:
    """What git prints. Raises ``NoChanges`` where there is no git, ``_Refused`` with its words where it refuses."""
    environment = {name: value for name, value in os.environ.items() if name not in _OF_HOOKS}
    command = ["git", "-C", folder, "-c", "core.fsmonitor=false", "-c", "core.quotePath=true", *arguments]
    try:
        done = subprocess.run(
            command, capture_output=True, env={**environment, "LC_ALL": "C"}, stdin=subprocess.DEVNULL, check=False
        )
    except OSError as error:
        raise NoChanges(f"git can't be run: {error.strerror or error}") from error
    if done.returncode:
        words = done.stderr.decode("utf-8", "replace").strip().split("\n")[0]
        raise _Refused(words.removeprefix("fatal: ") or f"git exits with {done.returncode}")
    return done.stdout
