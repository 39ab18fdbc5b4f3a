"""Finds the files of a project that may call functions of the named files, by a text search for names, without parsing.

A file depends on another where a definition of its own mentions what the other defines, and it imports that by name,
or what holds it. Whoever mentions that definition depends on it in turn. Text in comments and short strings counts,
too: a file too many costs time, a file too few costs findings.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import pairwise

from xlalint.sources.patterns import lazy_pattern

_WORD = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_" + bytes(range(128, 256))
_BLANKS = bytes(byte if byte in _WORD else 32 for byte in range(256))
_TEXT = lazy_pattern(
    # Long strings, and what may hold their quotes: short strings and comments.
    rb"(\"\"\"(?:[^\"\\]|\\.|\"(?!\"\"))*\"\"\"|'''(?:[^'\\]|\\.|'(?!''))*''')"
    rb"|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|#[^\n]*",
    re.DOTALL,
)
_TOP = lazy_pattern(rb"^(?=[^\s#)\]}])", re.MULTILINE)
_DEFINED = lazy_pattern(rb"(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)")
_ANYWHERE = lazy_pattern(rb"^[ \t]*(?:(?:async[ \t]+)?def|class)[ \t]+(\w+)", re.MULTILINE)
_ASSIGNED = lazy_pattern(rb"^[ \t]*((?:\w+[ \t]*,[ \t]*)*\w+)[ \t]*(?::[^=\n]+)?=(?!=)", re.MULTILINE)
_COMPOUND = lazy_pattern(rb"(?:if|elif|else|try|except|finally|with|for|while|match)\b")
_FROM = lazy_pattern(
    rb"^[ \t]*from[ \t]+([.\w]+)[ \t]+import[ \t]*(\((?:[^()#]|#[^\n]*\n)*\)|(?:[^\n\\;]|\\\r?\n)*)", re.MULTILINE
)
_IMPORT = lazy_pattern(rb"^[ \t]*import[ \t]+((?:[^\n\\;#]|\\\r?\n)*)", re.MULTILINE)
_LOOP = lazy_pattern(rb"[ \t]*(?:async[ \t]+)?(?:for|while)\b")
SETTING_UP = ("load_", "save_", "export_", "download_", "plot_", "visualize_", "register_", "set_", "init_", "parse_")
"""How the names of functions begin that run before, after or apart from the steps."""
CONSTRUCTORS = frozenset({b"__init__", b"__new__", b"__post_init__"})
OBJECT_CALLS = frozenset({b"__call__", b"forward"})
_COMMENT = lazy_pattern(rb"#[^\n]*")
_BASES = lazy_pattern(rb"^[ \t]*class[ \t]+\w+[ \t]*\(([^()]*(?:\([^()]*\)[^()]*)*)\)", re.MULTILINE)


def words(data: bytes) -> set[bytes]:
    """All that looks like a name, keywords and numbers included."""
    return set(data.translate(_BLANKS).split())


def code_of(data: bytes) -> bytes:
    """The text without comments and documentation."""
    return _TEXT.sub(lambda match: b'""' if match[1] else b"" if match[0].startswith(b"#") else match[0], data)


class Imports:
    """The import statements of one file."""

    def __init__(self, data: bytes) -> None:
        self.names: dict[bytes, set[tuple[bytes, bytes]]] = {}
        """What is imported from modules: the last part of the module's name, and the name that it has here."""
        self.dotted: list[tuple[bytes, bytes]] = []
        """Module as written and imported name; the name is empty for ``import module``."""
        for match in _FROM.finditer(data):
            origin = match[1]
            listed = _COMMENT.sub(b"", match[2]).replace(b"\\", b" ").strip(b"() \t\r\n")
            for part in listed.split(b","):
                self._take(origin, part.split())
        for match in _IMPORT.finditer(data):
            for part in match[1].replace(b"\\", b" ").split(b","):
                names = part.split()
                if names:
                    self.dotted.append((names[0], b""))

    def _take(self, origin: bytes, names: list[bytes]) -> None:
        if names:
            self.names.setdefault(names[0], set()).add((origin.rpartition(b".")[2], names[-1]))
            self.dotted.append((origin, names[0]))

    def aliases(self, name: bytes, origin: File) -> set[bytes]:
        """What a name that another file defines, or hands on, is called here."""
        found = {here for module, here in self.names.get(name, ()) if module in (origin.module_name, b"")}
        if any(module in (origin.module_name, b"") for module, _ in self.names.get(b"*", ())):
            found.add(name)
        return found

    @cached_property
    def modules(self) -> frozenset[bytes]:
        """The last parts of the names of what may be modules."""
        parts = {part for origin, name in self.dotted if not name for part in origin.split(b".")}
        return frozenset(parts | self.names.keys())


class Definition:
    """A top-level statement: a function, a class, or something else, which may define any number of names."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        found = _DEFINED.match(_undecorated(text) if text.startswith(b"@") else text)
        self.is_import = text.startswith((b"from ", b"import "))
        self.name = os.fsdecode(found[1]) if found else ""
        """Empty for what is neither a function nor a class."""
        self.names = frozenset({found[1]} if found else () if self.is_import else _bound(text))

    @cached_property
    def words(self) -> set[bytes]:
        return words(self.text)

    @cached_property
    def is_class(self) -> bool:
        return re.match(rb"class\b", _undecorated(self.text)) is not None

    @cached_property
    def bases(self) -> frozenset[bytes]:
        """The words in the header of a class, or in those of the classes that stand in the statement."""
        return frozenset(word for header in _BASES.findall(self.text) for word in words(header))

    @cached_property
    def methods(self) -> dict[bytes, set[bytes]]:
        """The functions that stand in the statement, with all that they mention."""
        parts = _ANYWHERE.split(self.text)
        found: dict[bytes, set[bytes]] = {}
        for name, body in zip(parts[1::2], parts[2::2], strict=True):
            found.setdefault(name, set()).update(words(body))
        return found

    def leading_to(self, methods: frozenset[bytes]) -> frozenset[bytes]:
        """Those methods, and all of the class that may lead to one of them, but for what sets an object up."""
        found = {name for name in methods if not sets_up(name)}
        pending = list(found)
        while pending:
            name = pending.pop()
            callers = {caller for caller, mentioned in self.methods.items() if name in mentioned} - found
            callers = {caller for caller in callers if not sets_up(caller)}
            found |= callers
            pending += callers
        return frozenset(found)

    @cached_property
    def loop_words(self) -> frozenset[bytes]:
        """All that is mentioned in loops."""
        found: set[bytes] = set()
        loops: list[int] = []
        for line in self.text.splitlines():
            begun = len(line) - len(line.lstrip())
            if line.strip():
                while loops and begun <= loops[-1]:
                    loops.pop()
                if _LOOP.match(line):
                    loops.append(begun)
            if loops:
                found |= words(line)
        return frozenset(found)

    @cached_property
    def body_words(self) -> set[bytes]:
        """All that is mentioned but in the headers of classes."""
        return words(_BASES.sub(b"", self.text)) if self.bases else self.words


def _undecorated(text: bytes) -> bytes:
    """From the line of ``def`` or ``class`` on."""
    found = re.search(rb"^(?:async[ \t]+def|def|class)\b", text, re.MULTILINE)
    return text[found.start() :] if found else text


def _bound(text: bytes) -> Iterator[bytes]:
    """The names that a statement may bind at the top level."""
    if not _COMPOUND.match(text):
        first = _ASSIGNED.match(text)
        yield from (name.strip() for name in first[1].split(b",")) if first else ()
        return
    for names in _ASSIGNED.findall(text):
        yield from (name.strip() for name in names.split(b","))
    yield from _ANYWHERE.findall(text)
    for places in Imports(text).names.values():
        yield from (here for _, here in places)


class File:
    """One file of a project by its text; ``path`` absolute."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self.data = data

    @cached_property
    def imports(self) -> Imports:
        return Imports(self.data)

    @cached_property
    def code(self) -> bytes:
        return code_of(self.data)

    @cached_property
    def definitions(self) -> tuple[Definition, ...]:
        # What a long string holds is no code: documentation, for the most part.
        text = _TEXT.sub(lambda match: b'""' if match[1] else match[0], self.data)
        starts = [match.start() for match in _TOP.finditer(text)]
        found: list[Definition] = []
        begin: int | None = None
        for start, end in pairwise([*starts, len(text)]):
            begin = start if begin is None else begin
            # A decorator belongs to what it decorates.
            if text[start : start + 1] != b"@":
                found.append(Definition(text[begin:end]))
                begin = None
        return tuple(found)

    @cached_property
    def module_name(self) -> bytes:
        """The last part of the name by which others import the module, or the package."""
        folder, name = os.path.split(os.path.splitext(self.path)[0])
        return os.fsencode(os.path.basename(folder) if name == "__init__" else name)


class Index:
    """The files of a project, and which of them mention a word."""

    def __init__(self, files: Mapping[str, File]) -> None:
        self.files = files
        self._mentioning: dict[bytes, list[File]] = {}
        self._classes: dict[bytes, list[tuple[File, Definition]]] = {}
        for file in self.files.values():
            for word in words(file.data):
                self._mentioning.setdefault(word, []).append(file)

    def mentioning(self, word: bytes) -> list[File]:
        return self._mentioning.get(word, [])

    def dependents(self, named: Iterable[str], most: int) -> dict[str, frozenset[str]] | None:
        """The files that may lead to functions of those named, with the top-level functions and classes that do; ""
        stands for the other statements of a file. The named files themselves are left out.

        None where they are more than ``most`` bytes of text.
        """
        return _Search(self, frozenset(named), most).run()

    def classes(self, name: bytes) -> list[tuple[File, Definition]]:
        """The classes of this name."""
        if name not in self._classes:
            self._classes[name] = [
                (file, definition)
                for file in self.mentioning(name)
                for definition in file.definitions
                if name in definition.names and definition.is_class
            ]
        return self._classes[name]


class _Search:
    """The worklist of names that lead to the named files, each with the file that defines it."""

    def __init__(self, index: Index, named: frozenset[str], most: int) -> None:
        self.index = index
        self.most = most
        self.named = named
        self.found: dict[str, set[str]] = {}
        self.counted: set[int] = set()
        self.size = 0
        """Bytes of all that was found."""
        self.reached: set[int] = set()
        """Definitions that lead there, by identity."""
        self.overridden: set[tuple[int, frozenset[bytes]]] = set()
        """Base classes, with the methods of theirs that are overridden."""
        self.seen: set[tuple[bytes, str]] = set()
        self.pending: list[tuple[bytes, File]] = []
        for path in named:
            file = index.files.get(path)
            if file is not None:
                for definition in file.definitions:
                    self.reach(file, definition)

    def run(self) -> dict[str, frozenset[str]] | None:
        while self.pending:
            if self.size > self.most:
                return None
            name, origin = self.pending.pop()
            for file in self.index.mentioning(name):
                self.look(file, name, origin)
        return {path: frozenset(names) for path, names in self.found.items()}

    def find(self, file: File, definition: Definition) -> None:
        if file.path in self.named or definition.is_import or id(definition) in self.counted:
            return
        self.counted.add(id(definition))
        self.size += len(definition.text)
        self.found.setdefault(file.path, set()).add(definition.name)

    def look(self, file: File, name: bytes, origin: File) -> None:
        """Reach the definitions of a file that mention what another defines."""
        local = {name} if file is origin else file.imports.aliases(name, origin)
        through = file is not origin and origin.module_name in file.imports.modules
        if not local and not through:
            return
        for alias in local:
            # What is imported here, others may import from here.
            self.push(alias, file)
        for definition in file.definitions:
            if id(definition) in self.reached:
                continue
            if not local.isdisjoint(definition.words) or (through and mentions_attribute(definition, name)):
                self.reach(file, definition)

    def reach(self, file: File, definition: Definition) -> None:
        if definition.is_import or id(definition) in self.reached:
            return
        self.reached.add(id(definition))
        self.find(file, definition)
        self.reach_bases(file, definition)
        for name in definition.names:
            if not name.startswith(b"__"):
                self.push(name, file)

    def reach_bases(self, file: File, definition: Definition) -> None:
        """What overrides a method runs where that is called: the callers of a base's method lead there, too."""
        for base in definition.bases:
            for other, candidate in self.index.classes(base):
                if other is file or base in file.imports.names or other.module_name in file.imports.modules:
                    self.reach_overridden(other, candidate, overridden(definition, candidate))

    def reach_overridden(self, file: File, base: Definition, methods: frozenset[bytes]) -> None:
        methods = base.leading_to(methods)
        if (id(base), methods) in self.overridden:
            return
        self.overridden.add((id(base), methods))
        self.find(file, base)
        self.reach_bases(file, base)
        (name,) = base.names
        for other in self.index.mentioning(name):
            for candidate in other.definitions:
                if name in candidate.body_words and any(calls(candidate, method) for method in methods):
                    self.find(other, candidate)
        # What a loop of the base runs for other classes tells what kind of loop it is.
        if methods.isdisjoint(base.loop_words):
            return
        for other, candidate in self.subclasses(name):
            if any(hands_on(candidate, method) for method in methods):
                self.find(other, candidate)

    def subclasses(self, name: bytes) -> list[tuple[File, Definition]]:
        """The classes that have one of this name as a base, or as a base of one."""
        found: dict[int, tuple[File, Definition]] = {}
        pending = [name]
        while pending:
            base = pending.pop()
            for file in self.index.mentioning(base):
                for definition in file.definitions:
                    if base in definition.bases and id(definition) not in found:
                        found[id(definition)] = (file, definition)
                        pending += definition.names
        return [*found.values()]

    def push(self, name: bytes, file: File) -> None:
        if (name, file.path) not in self.seen:
            self.seen.add((name, file.path))
            self.pending.append((name, file))


def sets_up(name: bytes) -> bool:
    return name in CONSTRUCTORS or os.fsdecode(name).lstrip("_").startswith(SETTING_UP)


def overridden(cls: Definition, base: Definition) -> frozenset[bytes]:
    """The methods of a base that a class defines anew; who makes an object calls no other method by that."""
    return frozenset(cls.methods.keys() & base.methods.keys()) - CONSTRUCTORS


def calls(definition: Definition, method: bytes) -> bool:
    """Whether a definition may call a method of an object of a class. What objects are called by stands in no text."""
    return method in OBJECT_CALLS or (method in definition.words and mentions_attribute(definition, method))


def hands_on(cls: Definition, method: bytes) -> bool:
    """Whether a class may call a method of its base on its objects."""
    if method not in cls.words or not mentions_attribute(cls, method):
        return False
    inherited = method not in cls.methods
    return inherited or re.search(rb"\bsuper\([^)]*\)\s*\.\s*" + re.escape(method) + rb"\b", cls.text) is not None


def mentions_attribute(definition: Definition, name: bytes) -> bool:
    return name in definition.words and re.search(rb"\.\s*" + re.escape(name) + rb"\b", definition.text) is not None
