"""Which files are those of libraries: installed, or there to be."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from xlalint.program.link import INSTALLED
from xlalint.sources import observed
from xlalint.sources.patterns import lazy_pattern

VERSION_CONTROL = (".git", ".hg", ".svn", ".jj")
_PACKAGED = lazy_pattern(rb"^\[(?:project|build-system|tool\.poetry|metadata)\]", re.MULTILINE)
_METADATA = ("pyproject.toml", "setup.cfg")


def packaged(files: Iterable[str]) -> frozenset[str]:
    """The files of libraries: a package is described beside them or above, up to where version control begins."""
    known: dict[str, bool] = {}
    return frozenset(path for path in files if is_of_library(os.path.dirname(path), known))


def is_of_library(folder: str, known: dict[str, bool]) -> bool:
    found = known.get(folder)
    if found is None:
        parent = os.path.dirname(folder)
        found = os.path.basename(folder) in INSTALLED or is_packaged(folder)
        if not found and parent != folder and not is_checkout(folder):
            found = is_of_library(parent, known)
        known[folder] = found
    return found


def is_packaged(folder: str) -> bool:
    """Whether a package is described in a folder."""
    return observed.exists(os.path.join(folder, "setup.py")) or any(
        describes_package(os.path.join(folder, name)) for name in _METADATA
    )


def describes_package(path: str) -> bool:
    try:
        return _PACKAGED.search(observed.content(path)) is not None
    except OSError:
        # Mostly it is not there.
        return False


def is_checkout(folder: str) -> bool:
    return any(observed.exists(os.path.join(folder, name)) for name in VERSION_CONTROL)
