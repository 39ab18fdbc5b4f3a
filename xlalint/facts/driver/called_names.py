"""The names of all that is called, by the folders that imports start from: what a tree calls that has nothing to do
with a place tells nothing of it."""

from __future__ import annotations

import os
from collections.abc import Iterable

import msgspec

from xlalint.facts.driver.file_index import Index
from xlalint.program.link import dotted_name


class CalledByRoot(msgspec.Struct, frozen=True):
    by_root: dict[str, frozenset[str]]
    leading: dict[str, frozenset[str]]
    """By folder those whose files may call what is in it: itself, and what imports from it."""

    def __contains__(self, name: object) -> bool:
        return any(name in names for names in self.by_root.values())

    def near(self, name: str, root: str) -> bool:
        return any(name in self.by_root.get(other, ()) for other in self.leading.get(root, (root,)))


def called_in(indexes: Iterable[Index]) -> CalledByRoot:
    by_root: dict[str, frozenset[str]] = {}
    given: dict[str, set[str]] = {}
    taken: dict[str, set[str]] = {}
    for index in indexes:
        for root, names in index.called.items():
            by_root[root] = by_root.get(root, frozenset()) | names
        for path, imported in index.imports.items():
            root = index.roots[path]
            # A folder without ``__init__`` is a package, too: it is imported by its own name.
            names_of = given.setdefault(root, set(root.split(os.sep)[-PORTIONS:]))
            names_of.add(dotted_name(path, root)[0].partition(".")[0])
            taken.setdefault(root, set()).update(name.lstrip(".").partition(".")[0] for name in imported)
    return CalledByRoot(by_root, {root: leading_to(root, given, taken) for root in given})


PORTIONS = 3
"""Folders, one in the other, by whose names what is below a root may be imported."""


def leading_to(root: str, given: dict[str, set[str]], taken: dict[str, set[str]]) -> frozenset[str]:
    """The folders that may import from one, by themselves or through others."""
    found, pending = {root}, [root]
    while pending:
        names = given.get(pending.pop(), set())
        for other, imported in taken.items():
            if other not in found and not imported.isdisjoint(names):
                found.add(other)
                pending.append(other)
    return frozenset(found)
