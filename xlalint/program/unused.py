"""What an application never uses: definitions that nothing in it names, as far as its text tells.

A library is used by others, so whatever it defines may run. An application runs from its scripts: what none of their
statements names, nor anything that those name in turn, does not run. A name in a short string counts as a use, and
where a program looks names up as it runs, anything may be meant.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

import msgspec

from xlalint.program.link import INSTALLED
from xlalint.sources.dependents import Definition, File, words
from xlalint.sources.screen import is_main

_RUNS = re.compile(rb"(?:for|while|with)\b|[\w.]+\(")
"""How statements begin that do something where a file is read."""
_ANYWHERE = re.compile(
    rb"\b(?:import_module|import_string|import_class|instantiate|LightningCLI|locate)[ \t]*\("
    rb"|\bsys\.modules\b|\bhydra\b|__subclasses__|\b__import__\b"
)
"""How names are looked up that no text of the program has to hold, wherever they are defined."""
_HERE = re.compile(
    rb"(?<![.\w])(?:globals|eval|exec|getmembers)[ \t]*\(|\bFire\([ \t]*\)|\b(?:locals|vars)\([^()]*\)[ \t]*\["
)
"""The same among the names of the file."""
_INTO = re.compile(rb"\bgetattr\([ \t]*(?:\w+\.)*(\w+)[ \t]*,[ \t]*(?![rb]?[\"'])|\b(\w+)\.__dict__[ \t]*\[")
"""The same among the attributes of something."""
_RENAMED = re.compile(rb"\bimport[ \t]+(?:\w+\.)*(\w+)[ \t]+as[ \t]+(\w+)")
_NAMED = re.compile(rb"\b(?:def|class)[ \t]+\w+")
_PACKAGED = re.compile(rb"^\[(?:project|build-system|tool\.poetry|metadata)\]", re.MULTILINE)
_DECORATOR = re.compile(rb"^@[^\n]*", re.MULTILINE)
_PLAIN_DECORATORS = frozenset(
    b"torch no_grad enable_grad inference_mode jit script compile functools lru_cache cache wraps contextlib "
    b"contextmanager dataclass dataclasses total_ordering unsafe_hash frozen True False None maxsize".split()
)
"""What decorators are made of that hand nothing to anybody else."""
_MODULES_OF_HOSTS = frozenset({b"hubconf", b"conftest", b"setup", b"noxfile"})
"""Files that are read by others than the program."""
_METADATA = ("pyproject.toml", "setup.cfg")
_TOPS = (".git", ".hg", ".svn", ".jj")


class Unused(msgspec.Struct, frozen=True):
    """``definitions`` are the top-level functions and classes that nothing names, by path; ``named`` all the names that
    occur in what runs, and None where methods may be called that the text does not name."""

    definitions: dict[str, frozenset[str]] = {}
    named: frozenset[str] | None = None

    def holds(self, path: str, qualname: str) -> bool:
        return qualname.split(".", 1)[0] in self.definitions.get(path, ())


NOTHING_UNUSED = Unused()


def unused_in(files: Mapping[str, File]) -> Unused:
    """What nothing uses of these files, which are all of a project, by their absolute paths."""
    of_libraries = packaged(files)
    imported = frozenset(name for file in files.values() for name in imported_names(file))
    modules = frozenset(file.module_name for file in files.values())
    if not any(is_program(file, modules, imported) for path, file in files.items() if path not in of_libraries):
        return NOTHING_UNUSED
    if any(_ANYWHERE.search(file.data) for file in files.values()):
        return NOTHING_UNUSED
    reached = Reached(files, imported, of_libraries | opened(files))
    asks = any(_INTO.search(file.data) for file in files.values())
    return Unused(reached.unreached(), None if asks else frozenset(map(os.fsdecode, reached.named)))


def imported_names(file: File) -> frozenset[bytes]:
    """The parts of all names that a file imports."""
    return frozenset(part for origin, name in file.imports.dotted for part in (*origin.split(b"."), name) if part)


def is_program(file: File, modules: frozenset[bytes], imported: frozenset[bytes]) -> bool:
    """Whether a file is there to be run, and not to be imported: it uses the other ``modules`` of the project, or says
    that it may be a program where it is the only one."""
    if file.module_name in imported or file.path.endswith("__init__.py") or file.module_name.startswith(b"test"):
        return False
    by_name = is_main(file.data)
    if imported_names(file).isdisjoint(modules):
        return by_name and len(modules) == 1
    statements = (one.text for one in file.definitions if not one.name and not one.is_import)
    return by_name or any(map(_RUNS.match, statements))


def opened(files: Mapping[str, File]) -> frozenset[str]:
    """The files any of whose names may be meant by what is only known as the program runs, and what they hand on."""
    modules = {name for file in files.values() for name in looked_into(file)}
    pending = [file for file in files.values() if file.module_name in modules or _HERE.search(file.data)]
    found: set[str] = set()
    while pending:
        file = pending.pop()
        if file.path not in found:
            found.add(file.path)
            whole = {origin for origin, _ in file.imports.names.get(b"*", ())}
            pending += [other for other in files.values() if other.module_name in whole]
    return frozenset(found)


def looked_into(file: File) -> Iterator[bytes]:
    """The names of modules, or of what else, whose attributes a file looks up by names that it does not hold."""
    renamed = {alias: name for name, alias in _RENAMED.findall(file.data)}
    for groups in _INTO.findall(file.data):
        for name in filter(None, groups):
            yield renamed.get(name, name)


class Reached:
    """The definitions that the statements of the files lead to, by names alone. Of the files ``open`` any may."""

    def __init__(self, files: Mapping[str, File], imported: Collection[bytes], open: Collection[str]) -> None:
        self.imported = imported
        self.named: set[bytes] = set()
        """All names in what is reached."""
        self.pending: dict[bytes, list[tuple[File, Definition]]] = defaultdict(list)
        """What is not reached yet, by name."""
        self.own: dict[str, set[bytes]] = defaultdict(set)
        """The names in what is reached of a file."""
        self.work: list[tuple[File, Definition]] = []
        for path, file in files.items():
            for definition in file.definitions:
                if path in open or not (definition.name or definition.is_import) or is_handed_on(file, definition):
                    self.work.append((file, definition))
                elif not definition.is_import:
                    self.pending[os.fsencode(definition.name)].append((file, definition))
        while self.work:
            self.reach(*self.work.pop())

    def reach(self, file: File, definition: Definition) -> None:
        fresh = used_words(definition) - self.own[file.path]
        self.named |= fresh
        self.own[file.path] |= fresh
        for word in fresh & self.pending.keys():
            self.meet(word, file)

    def meet(self, word: bytes, user: File) -> None:
        """A file that no other imports is used by itself alone."""
        waiting = self.pending[word]
        found = [one for one in waiting if one[0] is user or self.is_imported(one[0])]
        self.pending[word] = [one for one in waiting if one not in found]
        self.work += found

    def is_imported(self, file: File) -> bool:
        return file.path.endswith("__init__.py") or file.module_name in self.imported

    def unreached(self) -> dict[str, frozenset[str]]:
        found: dict[str, set[str]] = defaultdict(set)
        for waiting in self.pending.values():
            for file, definition in waiting:
                found[file.path].add(definition.name)
        return {path: frozenset(names) for path, names in found.items()}


def is_handed_on(file: File, definition: Definition) -> bool:
    """Whether a definition is given to somebody by a decorator, or found by its name by whoever reads the file."""
    if not definition.name:
        return False
    if file.module_name in _MODULES_OF_HOSTS or definition.name.lower().startswith("test"):
        return True
    header = b" ".join(_DECORATOR.findall(definition.text[: _header_end(definition.text)]))
    return not words(header) <= _PLAIN_DECORATORS


def _header_end(text: bytes) -> int:
    found = _NAMED.search(text)
    return found.start() if found else 0


def used_words(definition: Definition) -> set[bytes]:
    """All that a definition mentions, but for the names that it gives."""
    return words(_NAMED.sub(b"", definition.text)) if definition.name else definition.words


def packaged(files: Iterable[str]) -> frozenset[str]:
    """The files that are installed, or are there to be: a package is described beside them or above."""
    known: dict[str, bool] = {}
    return frozenset(path for path in files if is_of_library(os.path.dirname(path), known))


def is_of_library(folder: str, known: dict[str, bool]) -> bool:
    found = known.get(folder)
    if found is None:
        parent = os.path.dirname(folder)
        found = os.path.basename(folder) in INSTALLED or is_packaged(folder)
        if not found and parent != folder and not any(os.path.exists(os.path.join(folder, name)) for name in _TOPS):
            found = is_of_library(parent, known)
        known[folder] = found
    return found


def is_packaged(folder: str) -> bool:
    if os.path.exists(os.path.join(folder, "setup.py")):
        return True
    for name in _METADATA:
        try:
            with open(os.path.join(folder, name), "rb") as file:
                if _PACKAGED.search(file.read()):
                    return True
        except OSError:
            continue
    return False
