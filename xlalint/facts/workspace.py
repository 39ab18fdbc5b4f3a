"""The files of one run: what is analysed, what is reported, and what lies around it."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

from xlalint.facts.assumptions import Assumptions
from xlalint.program.link import dotted_name, source_root
from xlalint.sources.read import read
from xlalint.sources.source import Source

MAX_IMPORTED = 2
"""Megabytes of a file that is read only because others lead to it."""


class Workspace(msgspec.Struct, frozen=True):
    """All paths are absolute."""

    sources: dict[str, Source]
    """Files that are analysed for their own sake."""
    assumptions: Assumptions
    beside: dict[str, str] = {}
    """Files that hold no tensors unless others hand them some, with their paths as shown."""

    def source(self, path: str) -> Source:
        """The text of a file of the run. Raises ``Unreadable``."""
        found = self.sources.get(path)
        return found if found is not None else read(Path(path), self.beside[path], MAX_IMPORTED)

    def roots(self) -> frozenset[str]:
        """The folders that imports may start from."""
        return frozenset(map(source_root, self.sources))

    def packages(self) -> frozenset[str]:
        """The names by which top-level packages and modules of the run are imported."""
        return frozenset(map(top_level, self.sources))


def top_level(path: str) -> str:
    """The name by which a file's top-level package or module is imported."""
    return dotted_name(path, source_root(path))[0].split(".", 1)[0]


def absolute(path: str) -> str:
    return os.path.abspath(path)
