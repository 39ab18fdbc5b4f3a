"""Decides which paths are excluded: default folders, the user's patterns, and ``.gitignore`` files where they stand."""

from __future__ import annotations

import os
import re
import warnings
from typing import TYPE_CHECKING, Protocol

import msgspec

from xlalint.sources import observed
from xlalint.sources.patterns import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pathspec import GitIgnoreSpec

DEFAULT_EXCLUDES = (
    ".bzr",
    ".direnv",
    ".eggs",
    ".git",
    ".hg",
    ".ipynb_checkpoints",
    ".mypy_cache",
    ".nox",
    ".pytest_cache",
    ".ruff_cache",
    ".svn",
    ".tox",
    ".venv",
    ".vscode",
    "__pycache__",
    "__pypackages__",
    "_build",
    "build",
    "dist",
    "node_modules",
    "site-packages",
    "venv",
)
"""Names of files and folders that are passed over below the paths that the user names."""


_SPECIAL = frozenset("*?[]!/\\#")
"""What makes a glob of a name."""
_CLOSED = lazy_pattern(r"\\.|\[[!^]?\]?[^\]]*\]")


class Globs(msgspec.Struct, frozen=True):
    """Patterns as in ``.gitignore``, read from the folder ``root`` (an absolute path)."""

    root: str
    patterns: tuple[str, ...]


class Excludes(msgspec.Struct, frozen=True):
    """What is excluded, by the configuration and by the command line."""

    globs: tuple[Globs, ...]
    force: bool = False
    """Whether the patterns hold for paths that are named explicitly too."""
    gitignore: bool = True


class ExcludesFor(Protocol):
    """Gives what is excluded inside a folder (an absolute path)."""

    def __call__(self, folder: str) -> Excludes: ...


class Pattern(Protocol):
    """Decides on one absolute path: True ignored, False kept in spite of outer patterns, None no opinion."""

    def __call__(self, path: str, is_folder: bool) -> bool | None: ...


def pattern_of(globs: Globs) -> Pattern:
    """One decision from plain names (a set look-up) and globs (pathspec, imported only when there is one)."""
    names = frozenset(one for one in globs.patterns if _is_plain(one))
    others = [one for one in globs.patterns if one not in names]
    by_glob = globs_pattern(globs.root, others) if others else None

    def decide(path: str, is_folder: bool) -> bool | None:
        if os.path.basename(path) in names:
            return True
        return by_glob(path, is_folder) if by_glob is not None else None

    return decide


def is_pattern(line: str) -> bool:
    """Whether a line can match anything, as ``.gitignore`` reads it."""
    if _is_plain(line):
        return bool(line.strip())
    if "[" in _CLOSED.sub("", line):
        return False  # git matches nothing by it; releases of pathspec differ
    from pathspec import GitIgnoreSpec

    return _is_pattern(GitIgnoreSpec, line)


def globs_pattern(root: str, lines: Sequence[str]) -> Pattern:
    """Patterns as in ``.gitignore``, read from the folder ``root`` (absolute)."""
    from pathspec import GitIgnoreSpec

    spec = _spec(GitIgnoreSpec, lines)

    def decide(path: str, is_folder: bool) -> bool | None:
        inside = _relative(root, path)
        if inside is None:
            return None
        return spec.check_file(inside + "/" if is_folder else inside).include

    return decide


def excluded_with_parents(excludes: Excludes, path: str) -> bool:
    """Whether ``path`` or a folder that holds it, below the root of the patterns, is excluded."""
    return any(_excluded_from(globs, path) for globs in excludes.globs)


def _excluded_from(globs: Globs, path: str) -> bool:
    decide = pattern_of(globs)
    inside = _relative(globs.root, path)
    if inside is None:
        return bool(decide(path, False))
    parts = inside.split("/")
    current = globs.root
    for number, part in enumerate(parts, 1):
        current = os.path.join(current, part)
        if decide(current, number < len(parts)):
            return True
    return False


def gitignore_in(folder: str) -> tuple[Pattern, ...]:
    """The patterns that stand in a folder: its ``.gitignore`` and, at the top of a repository, ``info/exclude``."""
    found: list[Pattern] = []
    for name in (os.path.join(".git", "info", "exclude"), ".gitignore"):
        path = os.path.join(folder, name)
        # A FIFO or a folder of this name would block or raise.
        if not observed.is_file(path):
            continue
        try:
            lines = observed.content(path).decode("utf-8", "replace").splitlines()
        except OSError:
            continue
        if any(line.strip() and not line.startswith("#") for line in lines):
            found.append(globs_pattern(folder, lines))
    return tuple(found)


def gitignore_above(folder: str) -> tuple[Pattern, ...]:
    """The patterns of the enclosing git repository above ``folder``, outermost first; empty outside of one."""
    above: list[tuple[Pattern, ...]] = []
    inside = folder
    while not observed.exists(os.path.join(inside, ".git")):
        parent = os.path.dirname(inside)
        if parent == inside:
            return ()
        above.append(gitignore_in(parent))
        inside = parent
    return tuple(pattern for patterns in reversed(above) for pattern in patterns)


def decided(patterns: Sequence[Pattern], path: str, is_folder: bool) -> bool:
    """Whether the innermost pattern that has an opinion ignores ``path``."""
    for pattern in reversed(patterns):
        verdict = pattern(path, is_folder)
        if verdict is not None:
            return verdict
    return False


def _spec(kind: type[GitIgnoreSpec], lines: Sequence[str]) -> GitIgnoreSpec:
    try:
        return _compiled(kind, lines)
    except (ValueError, re.error):
        # One line that is no pattern must not take the others with it.
        return _compiled(kind, [line for line in lines if _is_pattern(kind, line)])


def _compiled(kind: type[GitIgnoreSpec], lines: Sequence[str]) -> GitIgnoreSpec:
    with warnings.catch_warnings():
        # Of `[[:digit:]]`, which git knows and a regular expression does not.
        warnings.simplefilter("ignore", FutureWarning)
        return kind.from_lines(lines)


def _is_pattern(kind: type[GitIgnoreSpec], line: str) -> bool:
    try:
        return any(pattern.include is not None for pattern in _compiled(kind, [line]).patterns)
    except (ValueError, re.error):
        return False


def plain_names(excludes: Excludes) -> tuple[str, ...]:
    """Names that are excluded wherever they stand."""
    return tuple(sorted({one for globs in excludes.globs for one in globs.patterns if _is_plain(one)}))


def _is_plain(line: str) -> bool:
    return not set(line) & _SPECIAL


def _relative(root: str, path: str) -> str | None:
    prefix = root.rstrip(os.sep) + os.sep
    if not path.startswith(prefix):
        return None
    return path[len(prefix) :].replace(os.sep, "/")
