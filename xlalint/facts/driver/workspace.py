"""The files of one run: which are analysed, which are reported, which lie around them."""

from __future__ import annotations

import os
import re
from collections.abc import Container
from pathlib import Path

import msgspec

from xlalint.facts.options import Assumptions
from xlalint.program.import_graph import ImportGraph
from xlalint.program.link import dotted_name, import_roots, source_root
from xlalint.program.usage import ALL_USED, Usage
from xlalint.sources.dependents import Index
from xlalint.sources.discover import shown
from xlalint.sources.read import read
from xlalint.sources.source import Source

MAX_IMPORTED = 2
"""Megabytes of a file that is read only because others lead to it."""


class Surroundings(msgspec.Struct, frozen=True):
    """The project of which a run analyses a part: ``files`` are all that a run over the whole of it would analyse.

    ``leading`` are those that are not named but may lead to what is, with the top-level names that do; "" stands for
    the other statements of a file.
    """

    index: Index
    graph: ImportGraph
    files: frozenset[str]
    leading: dict[str, frozenset[str]]

    def calling(self, name: str) -> list[str]:
        """Files that seem to call something of this name."""
        word = os.fsencode(name)
        call = re.compile(rb"(?<!\bdef )(?<!\bclass )\b" + re.escape(word) + rb"\s*\(")
        mentioning = self.index.mentioning(word)
        return [file.path for file in mentioning if file.path in self.files and call.search(file.data)]


class Around(msgspec.Struct, frozen=True):
    """What stands around the sources of a run: the part of a ``Workspace`` that is known beforehand."""

    beside: dict[str, str] = {}
    reported: frozenset[str] | None = None
    surroundings: Surroundings | None = None
    usage: Usage = ALL_USED


ALONE = Around()


class Workspace(msgspec.Struct, frozen=True):
    """All paths are absolute."""

    sources: dict[str, Source]
    """Files that are analysed for their own sake."""
    assumptions: Assumptions
    beside: dict[str, str] = {}
    """Files that hold no tensors unless others hand them some, with their paths as shown."""
    reported: Container[str] | None = None
    """The files of which findings are told; None: all."""
    surroundings: Surroundings | None = None
    usage: Usage = ALL_USED
    """What nothing in the project uses."""

    def is_reported(self, path: str) -> bool:
        return self.reported is None or path in self.reported

    def source(self, path: str) -> Source:
        """The text of a file of the run. Raises ``Unreadable``."""
        found = self.sources.get(path)
        if found is not None:
            return found
        return read(Path(path), self.beside.get(path) or shown(path), MAX_IMPORTED)

    @property
    def files(self) -> frozenset[str]:
        """All that a run over the whole project would analyse."""
        return frozenset(self.sources) if self.surroundings is None else self.surroundings.files

    def leads(self, path: str, qualname: str) -> bool:
        """Whether a function or a class may lead to what is reported, or is a part of that."""
        names = None if self.surroundings is None else self.surroundings.leading.get(path)
        if names is None:
            return path in self.sources
        return ("" if qualname == "<module>" else qualname.split(".", 1)[0]) in names

    def roots(self) -> frozenset[str]:
        """The folders that imports may start from."""
        return import_roots(map(source_root, self.files))

    def packages(self) -> frozenset[str]:
        """The names by which top-level packages and modules of the run are imported."""
        return frozenset(map(top_level, self.files))


def top_level(path: str) -> str:
    """The name by which a file's top-level package or module is imported."""
    return dotted_name(path, source_root(path))[0].split(".", 1)[0]


def absolute(path: str) -> str:
    return os.path.abspath(path)
