"""Whether files are all of a project: those of a part import what is not there."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping

from xlalint.sources import observed
from xlalint.sources.dependents import File

MOST_MISSING = 20
"""One import in so many may lead nowhere: to what is built, or is there for some users only."""


def are_complete(files: Mapping[str, File]) -> bool:
    """Whether nearly all that the files import of their own packages is there. A folder of which nothing is imported
    only bears the name of an installed package."""
    folders = folders_of(files)
    by_package: dict[str, list[bool]] = defaultdict(list)
    for file in files.values():
        for package, is_there in own_imports(file, folders):
            by_package[package].append(is_there)
    found = [is_there for package, each in by_package.items() if not package or any(each) for is_there in each]
    return found.count(False) * MOST_MISSING <= len(found)


def folders_of(files: Mapping[str, File]) -> dict[str, list[str]]:
    """The folders of the files and those around them, by name."""
    known: dict[str, list[str]] = defaultdict(list)
    seen: set[str] = set()
    for path in files:
        folder = os.path.dirname(path)
        while folder not in seen and os.path.dirname(folder) != folder:
            seen.add(folder)
            known[os.path.basename(folder)].append(folder)
            folder = os.path.dirname(folder)
    return known


def own_imports(file: File, folders: Mapping[str, list[str]]) -> Iterator[tuple[str, bool]]:
    """The packages of the project that a file imports from, by name or, relatively, without, each with whether the
    module is there."""
    for origin, _ in file.imports.dotted:
        text = os.fsdecode(origin)
        name = text.lstrip(".")
        parts = name.split(".")
        if text != name and name:
            folder = os.path.dirname(file.path)
            for _ in range(len(text) - len(name) - 1):
                folder = os.path.dirname(folder)
            yield "", holds([folder], parts[0])
        elif len(parts) > 1 and parts[0] in folders:
            yield parts[0], holds(folders[parts[0]], parts[1])


def holds(folders: list[str], name: str) -> bool:
    paths = [os.path.join(folder, name) for folder in folders]
    return any(observed.exists(f"{path}.py") or observed.is_folder(path) for path in paths)
