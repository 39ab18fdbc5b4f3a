"""The programs of a project: its scripts, each with all that it imports, by the names of modules, without parsing."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping

from xlalint.sources.dependents import File

LITERAL_IMPORT = rb"\b(?:import_module|__import__)\([ \t]*[rb]?[\"']([\w.]*)[\"'][ \t]*[,)]"


def imported_names(file: File) -> frozenset[bytes]:
    """The parts of all names that a file imports."""
    literal = ((name, b"") for name in re.findall(LITERAL_IMPORT, file.data))
    return frozenset(part for origin, name in (*file.imports.dotted, *literal) for part in (*origin.split(b"."), name))


class Programs:
    """Files and those that they import, which may be too many where several are called alike."""

    def __init__(self, files: Mapping[str, File]) -> None:
        self.files = files
        self.names = {path: imported_names(file) for path, file in files.items()}
        """The parts of all names that a file imports."""
        self.imported = frozenset[bytes]().union(*self.names.values())
        self.imports: dict[str, list[str]] = defaultdict(list)
        self.importers: dict[str, list[str]] = defaultdict(list)
        named: dict[bytes, list[str]] = defaultdict(list)
        for path, file in files.items():
            named[file.module_name].append(path)
        for path, names in self.names.items():
            for found in (found for name in names for found in named.get(name, ())):
                self.imports[path].append(found)
                self.importers[found].append(path)

    def led_to(self, starts: Iterable[str]) -> frozenset[str]:
        """These files and those that they import, by themselves or through others."""
        return reached(starts, self.imports)

    def without(self, does: Callable[[File], bool], scripts: Collection[str]) -> frozenset[str]:
        """The files that some of the scripts lead to, and none whose program does a thing somewhere. Where no file
        does it, these are all."""
        if not any(map(does, self.files.values())):
            return frozenset(self.files)
        if not scripts:
            return frozenset()
        doing = [path for path, file in self.files.items() if does(file)]
        leading = reached(doing, self.importers)
        return self.led_to(set(scripts) - leading) - self.led_to(leading.intersection(scripts))


def reached(starts: Iterable[str], edges: Mapping[str, list[str]]) -> frozenset[str]:
    pending = list(starts)
    found: set[str] = set()
    while pending:
        path = pending.pop()
        if path not in found:
            found.add(path)
            pending += edges.get(path, ())
    return frozenset(found)
