"""What an application uses of itself, and what it never does, as far as its text tells.

A library is used by others, so whatever it defines may run. An application runs from its scripts: what none of their
statements names, nor anything that those name in turn, does not run. A name in a short string counts as a use, and
where a program looks names up as it runs, anything may be meant. Of a part of a project nothing is known.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial

import msgspec

from xlalint.program.class_mentions import Given, calls_of_classes, set_elsewhere
from xlalint.program.kept_defaults import ByDefault
from xlalint.program.main_blocks import has_main_block, line_of_main_block, statements, tries_out
from xlalint.program.missing_modules import are_complete
from xlalint.program.packaging import packaged
from xlalint.program.programs import LITERAL_IMPORT, Programs
from xlalint.sources.dependents import Definition, File, words
from xlalint.sources.patterns import lazy_pattern
from xlalint.sources.screen import PIPELINES, TRAINERS

_RUNS = lazy_pattern(rb"(?:for|while|with)\b|[\w.]+\(")
"""How statements begin that do something where a file is read."""
_ANYWHERE = lazy_pattern(
    rb"(?!" + LITERAL_IMPORT + rb")\b(?:import_module|__import__)\("
    rb"|\b(?:import_string|import_class|instantiate|LightningCLI)\(|\bpydoc\.locate\b|\bsys\.modules\b|\bhydra\b|__subclasses__"
)
"""How names are looked up that no text of the program has to hold, wherever they are defined."""
_HERE = lazy_pattern(
    rb"(?<![.\w])(?<!def )(?:globals|eval|exec|getmembers)\(|\bFire\([ \t]*\)|\b(?:locals|vars)\([^()]*\)[ \t]*\["
)
"""The same among the names of the file."""
_INTO = lazy_pattern(rb"\bgetattr\([ \t]*(?:\w+\.)*(\w+)[ \t]*,[ \t]*(?![rb]?[\"'])|\b(\w+)\.__dict__[ \t]*\[")
"""The same among the attributes of something."""
_RENAMED = lazy_pattern(rb"\bimport[ \t]+(?:\w+\.)*(\w+)[ \t]+as[ \t]+(\w+)")
_NAMED = lazy_pattern(rb"\b(?:def|class)[ \t]+\w+")
_DECORATOR = lazy_pattern(rb"^@[^\n]*", re.MULTILINE)
_PLAIN_DECORATORS = frozenset(
    b"torch no_grad enable_grad inference_mode jit script compile functools lru_cache cache wraps contextlib "
    b"contextmanager dataclass dataclasses total_ordering unsafe_hash frozen True False None maxsize".split()
)
"""What decorators are made of that hand nothing to anybody else."""
_MODULES_OF_HOSTS = frozenset({b"hubconf", b"conftest", b"setup", b"noxfile"})
"""Files that are read by others than the program."""
_MODEL = lazy_pattern(rb"\.backward\(|\bload_state_dict\(")
"""What a program does with a model, be it to train it or to use it."""
_TRAINERS = "|".join(TRAINERS).encode()
_PIPELINES = "|".join(PIPELINES).encode()
_MOVES = lazy_pattern(
    rb"\.to\(|cuda|xla(?!bel)|device|set_default_tensor_type|\bTrainer\b|\bpipeline\(|\b(?:"
    + _TRAINERS
    + rb"|"
    + _PIPELINES
    + rb")\b"
)
"""What may put something on a device, in whatever way."""
_LEARNS = lazy_pattern(
    rb"backward|\bgrad\b|(?<![\"'])optim(?!iz(?:e[ds]?|ing|ations?)\b)|\bTrainer\b|Learner|train_pipeline|\.(?:fit|learn|train_\w+)\(|\b(?:"
    + _TRAINERS
    + rb")\b"
)
"""What may run a backward pass, in whatever way; a name in quotes is what a file of weights may hold."""


MOST_HANDED_ON = 8
"""Constructors one after the other that hand a parameter on."""


class Usage(msgspec.Struct, frozen=True):
    """What a project uses of itself; by default, nothing is known."""

    unused: dict[str, frozenset[str]] = {}
    """The top-level functions and classes that nothing names, by path."""
    named: frozenset[str] | None = None
    """All names that occur in what runs; None where methods may be called that the text does not name."""
    trials: dict[str, int] = {}
    """The lines from which files try out what they define, by path."""
    calls: dict[str, Given] = {}
    """Of classes that are called and mentioned in no other way, what the calls give."""
    set_elsewhere: frozenset[str] | None = None
    """The attributes that are set on something else than ``self``; None where any may be."""
    unmoved: frozenset[str] = frozenset()
    """The files of programs that move nothing to a device, nor make anything there: all lies on the host."""
    untaught: frozenset[str] = frozenset()
    """The files of programs in which nothing learns, so that there are no backward passes."""

    def is_unused(self, path: str, qualname: str) -> bool:
        return qualname.split(".", 1)[0] in self.unused.get(path, ())

    def leaves_out(self, cls: str, told: ByDefault) -> bool:
        """Whether all calls of a class leave parameters as they are that attributes keep, and nothing else sets
        these."""
        if self.set_elsewhere is None or not self.set_elsewhere.isdisjoint(told.attributes):
            return False
        return all(self.is_by_default(cls, position, name, default) for position, name, default in told.parameters)

    def is_by_default(self, cls: str, position: int, name: str, default: str, depth: int = 0) -> bool:
        """Whether each call of a class gives a parameter the value that it has by itself, or nothing, be it by another
        constructor that hands on a parameter of its own."""
        given = self.calls.get(cls)
        if given is None or depth > MOST_HANDED_ON:
            return False
        return all(
            one.is_value(default)
            and (not one.cls or self.is_by_default(one.cls, one.position, one.name, default, depth + 1))
            for one in given.arguments(position, name)
        )

    def is_trial(self, path: str, line: int) -> bool:
        return line > self.trials.get(path, line)


ALL_USED = Usage()


def usage_in(files: Mapping[str, File]) -> Usage:
    """What these files use of each other, which are all of a project, by their absolute paths."""
    of_libraries = packaged(files)
    trials = {path: line_of_main_block(file) for path, file in files.items() if len(files) > 1 and tries_out(file)}
    own = [file for path, file in files.items() if path not in of_libraries]
    if not own:
        return Usage(trials=trials)
    programs, is_open = Programs(files), looks_anywhere(files)
    scripts = {file.path for file in own if starts(file, programs.imported) and not is_read_by_others(file)}
    if scripts and not are_complete(files):
        return Usage(trials=trials)
    usage = Usage(trials=trials)
    if scripts and not of_libraries and any(_MODEL.search(file.data) for file in own):
        # What a program imports by a name that its text does not hold may be any file.
        known = () if is_open else scripts
        unmoved, untaught = (programs.without(partial(does, what), known) for what in (_MOVES, _LEARNS))
        usage = Usage(trials=trials, unmoved=unmoved, untaught=untaught)
    modules = frozenset(file.module_name for file in files.values())
    if is_open or not any(is_application(file, modules, programs) for file in own):
        return usage
    return with_names(usage, programs, own, of_libraries)


def with_names(usage: Usage, programs: Programs, own: list[File], of_libraries: frozenset[str]) -> Usage:
    """The same with what no name leads to, of an application that looks nothing up but in files that are known."""
    files = programs.files
    searched = of_libraries | opened(files)
    live = programs.led_to(path for path, file in files.items() if path in searched or starts(file, programs.imported))
    reached = Reached(files, live, searched)
    asks = any(_INTO.search(files[path].data) for path in live)
    classes = classes_of(file for file in own if file.path not in searched)
    return msgspec.structs.replace(
        usage,
        unused=reached.unreached(),
        named=None if asks else frozenset(map(os.fsdecode, reached.named)),
        calls=calls_of_classes([file for file in files.values() if not is_read_by_others(file)], classes),
        set_elsewhere=set_elsewhere(files.values()),
    )


def classes_of(files: Iterable[File]) -> frozenset[bytes]:
    """Those that no decorator hands to anybody."""
    plain = (one for file in files for one in file.definitions if one.is_class and not one.text.startswith(b"@"))
    return frozenset(os.fsencode(one.name) for one in plain)


def does(what: re.Pattern[bytes], file: File) -> bool:
    """Whether the code of a file holds something, and not its comments alone."""
    return what.search(file.data) is not None and what.search(file.code) is not None


def looks_anywhere(files: Mapping[str, File]) -> bool:
    """Whether names of any file may be meant by what is only known as the program runs."""
    return any(_ANYWHERE.search(file.data) for file in files.values())


def is_application(file: File, modules: frozenset[bytes], programs: Programs) -> bool:
    """Whether a file is there to be run, and nothing else: it uses the other ``modules`` of the project, or says that
    it may be a program where it is the only one."""
    if file.module_name in programs.imported or file.path.endswith("__init__.py") or is_read_by_others(file):
        return False
    if not starts(file, programs.imported):
        return False
    return not programs.names[file.path].isdisjoint(modules) or (len(modules) == 1 and has_main_block(file.data))


def starts(file: File, imported: frozenset[bytes]) -> bool:
    """Whether a file is run for its own sake, be it by a test."""
    if has_main_block(file.data):
        return not tries_out(file)
    return is_read_by_others(file) or (file.module_name not in imported and any(map(_RUNS.match, statements(file))))


def is_read_by_others(file: File) -> bool:
    """Whether what a file defines is found by its name by what is no part of the program, such as tests."""
    name = file.module_name
    return name in _MODULES_OF_HOSTS or name.startswith(b"test") or name.endswith(b"_test")


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
    """The definitions that the statements of the ``live`` files lead to, by names alone. Of the ``searched`` files any
    may be meant."""

    def __init__(self, files: Mapping[str, File], live: Collection[str], searched: Collection[str]) -> None:
        self.live = live
        self.named: set[bytes] = set()
        """All names in what is reached."""
        self.pending: dict[bytes, list[tuple[File, Definition]]] = defaultdict(list)
        """What is not reached yet, by name."""
        self.own: dict[str, set[bytes]] = defaultdict(set)
        """The names in what is reached of a file."""
        self.work: list[tuple[File, Definition]] = []
        for path, file in files.items():
            for definition in file.definitions:
                if path in searched or (path in live and is_root(file, definition)):
                    self.work.append((file, definition))
                elif definition.name:
                    self.pending[os.fsencode(definition.name)].append((file, definition))
        while self.work:
            self.reach(*self.work.pop())

    def reach(self, file: File, definition: Definition) -> None:
        fresh = used_words(definition) - self.own[file.path]
        self.named |= fresh
        self.own[file.path] |= fresh
        for word in fresh & self.pending.keys():
            waiting = self.pending[word]
            self.pending[word] = [one for one in waiting if one[0].path not in self.live]
            self.work += [one for one in waiting if one[0].path in self.live]

    def unreached(self) -> dict[str, frozenset[str]]:
        found: dict[str, set[str]] = defaultdict(set)
        for waiting in self.pending.values():
            for file, definition in waiting:
                found[file.path].add(definition.name)
        return {path: frozenset(names) for path, names in found.items()}


def is_root(file: File, definition: Definition) -> bool:
    """Whether a statement runs where its file is read, or is a definition that a decorator hands to somebody, or that
    is found by its name by whoever reads the file. A list of what a file exports uses nothing."""
    if not definition.name:
        tried = has_main_block(definition.text) and tries_out(file)
        return not (definition.is_import or tried or definition.text.startswith(b"__all__"))
    if is_read_by_others(file):
        return True
    header = b" ".join(_DECORATOR.findall(definition.text[: _header_end(definition.text)]))
    return not words(header) <= _PLAIN_DECORATORS


def _header_end(text: bytes) -> int:
    found = _NAMED.search(text)
    return found.start() if found else 0


def used_words(definition: Definition) -> set[bytes]:
    """All that a definition mentions, but for the names that it gives."""
    return words(_NAMED.sub(b"", definition.text)) if definition.name else definition.words
