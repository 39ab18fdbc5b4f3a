"""Follows calls into installed packages: finds the package of a name, and queries it or the cache of earlier runs."""

from __future__ import annotations

import os
from typing import Any

import msgspec

from xlalint.cache.folder import CacheFolder
from xlalint.facts.domain.refinement import as_operand
from xlalint.facts.domain.role import Role
from xlalint.facts.domain.values import KnownObject, Value
from xlalint.facts.external import Called, ExternalSummary
from xlalint.facts.failures import reason_of
from xlalint.facts.options import Assumptions
from xlalint.installed.environment import folder_with, folders_of, version_of
from xlalint.installed.package import NOTHING, Package
from xlalint.installed.packing import pack, unpack
from xlalint.installed.store import Store
from xlalint.knowledge.ops import OpTable
from xlalint.knowledge.tables import frameworks
from xlalint.program.link import EXTERNAL, INSTALLED, source_root


class Following:
    """A ``Follower`` into the packages of ``folders``. Answers are kept in ``cache`` between runs."""

    def __init__(self, folders: tuple[str, ...], assumptions: Assumptions, cache: CacheFolder | None) -> None:
        self.folders = folders
        self.assumptions = assumptions
        self.cache = cache
        self.packages: dict[tuple[str, str], Asked | None] = {}
        self.roots: dict[str, str | None] = {}

    def kind_of(self, name: str, importer: str) -> str:
        asked = self.asked(name, importer)
        return "" if asked is None else asked.kind_of(name)

    def made(self, name: str, called: Called) -> str:
        return question(name, called)

    def of_call(self, name: str, importer: str, called: Called) -> ExternalSummary:
        asked = self.asked(name, importer)
        return (asked.answer(question(name, called)) if asked is not None else None) or NOTHING

    def of_method(self, made: str, method: str, importer: str, called: Called) -> ExternalSummary | None:
        asked = self.asked(parts_of(made)[0], importer)
        return None if asked is None else asked.answer(question(method, called, made))

    def close(self) -> None:
        for asked in self.packages.values():
            if asked is not None:
                asked.close()

    def asked(self, name: str, importer: str) -> Asked | None:
        """The package that a dotted name belongs to, for a file that imports it."""
        head, _, rest = name.partition(".")
        if not rest or head in EXTERNAL or head in frameworks().names("unfollowed"):
            return None
        beside = self.beside(importer)
        key = (beside or "", head)
        if key not in self.packages:
            folders = self.folders if beside is None else (beside, *self.folders)
            folder = folder_with(folders, head)
            self.packages[key] = None if folder is None else Asked(folder, head, self.assumptions, self.cache)
        return self.packages[key]

    def beside(self, importer: str) -> str | None:
        """The folder with packages that a file is itself installed in."""
        folder = os.path.dirname(importer)
        if folder not in self.roots:
            root = source_root(importer)
            self.roots[folder] = root if os.path.basename(root) in INSTALLED else None
        return self.roots[folder]


def follower(environment: str | None, root: str, ops: OpTable | None, cache: CacheFolder | None) -> Following:
    """For code below ``root``. What ops cost on a device of the user's own isn't kept: a profile changes with it."""
    return Following(folders_of(environment, root), Assumptions(ops=ops), cache if ops is None else None)


class Asked:
    """One package, and its answers."""

    def __init__(self, folder: str, name: str, assumptions: Assumptions, cache: CacheFolder | None) -> None:
        self.package = Package(folder, name, assumptions)
        self.store = Store(folder, name, version_of(folder, name) if cache is not None else "", cache)

    def kind_of(self, name: str) -> str:
        kind = self.store.kind(name)
        if kind is None:
            kind = self.package.kind_of(name)
            self.store.put_kind(name, kind)
        return kind

    def answer(self, asked: str) -> ExternalSummary | None:
        if self.store.has(asked):
            return self.store.get(asked)
        found = self.found_out(asked)
        # A failure is told in each run, until it is mended.
        return found if found is not None and found.failure else self.store.put(asked, found)

    def found_out(self, asked: str) -> ExternalSummary | None:
        name, arguments, keywords, no_grad, made = parts_of(asked)
        called = unpacked(arguments, keywords, no_grad)
        try:
            if not made:
                return self.package.of_call(name, called)
            owner, *making = parts_of(made)[:4]
            return self.package.of_method(owner, unpacked(*making), name, called)
        except Exception as error:  # what can't be understood of a library must not cost the user their own file
            return msgspec.structs.replace(NOTHING, failure=reason_of(error))

    def close(self) -> None:
        read = [os.path.relpath(path, self.package.folder) for path, one in self.package.files.items() if one]
        self.store.write(read)


def question(name: str, called: Called, made: str = "") -> str:
    """What is asked, as a text: the same for all calls that can't be told apart here."""
    arguments = [pack(handed(value)) for value in called.arguments]
    keywords = {key: pack(handed(value)) for key, value in sorted(called.keywords.items())}
    import json  # most runs ask nothing

    return json.dumps([name, arguments, keywords, called.no_grad, made])


def parts_of(question: str) -> list[Any]:
    """What ``question`` was made of."""
    import json

    parts: list[Any] = json.loads(question)
    return parts


def handed(value: Value) -> Value:
    """A model's output that is handed on as it is, is a tensor: a structure would have been taken apart before."""
    return as_operand(value) if type(value) is KnownObject and value.role == Role.OUTPUT else value


def unpacked(arguments: list[Any], keywords: dict[str, Any], no_grad: bool) -> Called:
    values: dict[str, Value] = {key: unpack(value) for key, value in keywords.items()}
    return Called([unpack(value) for value in arguments], values, no_grad)
