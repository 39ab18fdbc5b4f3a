"""Which files of a project import which, by the text of their import statements: none of them is parsed."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property

from xlalint.program.link import dotted_name, source_root
from xlalint.sources.dependents import File


class ImportGraph:
    """The files by the names that others import them by."""

    def __init__(self, files: Mapping[str, File]) -> None:
        self.files = files
        self._folders: dict[str, str] = {}

    @cached_property
    def _paths(self) -> dict[tuple[str, str], str]:
        return {(self.root(path), dotted_name(path, self.root(path))[0]): path for path in self.files}

    @cached_property
    def _roots(self) -> list[str]:
        return sorted({self.root(path) for path in self.files})

    def root(self, path: str) -> str:
        """The folder that imports of a file start from."""
        folder = os.path.dirname(path)
        if folder not in self._folders:
            self._folders[folder] = source_root(path)
        return self._folders[folder]

    def names(self, path: str) -> Iterator[str]:
        """The dotted names that a file imports; those of packages are made absolute."""
        package = dotted_name(path, self.root(path))[1].split(".")
        for origin, name in self.files[path].imports.dotted:
            text = origin.decode(errors="surrogateescape")
            level = len(text) - len(text.lstrip("."))
            if level:
                text = ".".join(filter(None, [*package[: len(package) - level + 1], text[level:]]))
            imported = name.decode(errors="surrogateescape")
            yield ".".join(filter(None, [text, imported if imported != "*" else ""]))

    def imported_by(self, path: str) -> Iterator[str]:
        """The files that a file imports, as far as they are among these."""
        own = self.root(path)
        for name in self.names(path):
            for root in (own, *self._roots):
                found = self._paths.get((root, name)) or self._paths.get((root, name.rpartition(".")[0]))
                if found is not None:
                    yield found
                    break

    def leads_to(self, path: str, goals: Collection[str]) -> bool:
        """Whether a file imports one of ``goals``, itself or through others."""
        seen = {path}
        pending = [path]
        while pending:
            for found in self.imported_by(pending.pop()):
                if found in goals:
                    return True
                if found not in seen:
                    seen.add(found)
                    pending.append(found)
        return False
