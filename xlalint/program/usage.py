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

import msgspec

from xlalint.program.link import INSTALLED
from xlalint.program.missing_modules import are_complete
from xlalint.sources.dependents import Definition, File, words
from xlalint.sources.screen import is_main

_RUNS = re.compile(rb"(?:for|while|with)\b|[\w.]+\(")
"""How statements begin that do something where a file is read."""
_LITERAL = rb"\b(?:import_module|__import__)\([ \t]*[rb]?[\"']([\w.]*)[\"'][ \t]*[,)]"
_ANYWHERE = re.compile(
    rb"(?!" + _LITERAL + rb")\b(?:import_module|__import__)\("
    rb"|\b(?:import_string|import_class|instantiate|LightningCLI)\(|\bpydoc\.locate\b|\bsys\.modules\b|\bhydra\b|__subclasses__"
)
"""How names are looked up that no text of the program has to hold, wherever they are defined."""
_HERE = re.compile(
    rb"(?<![.\w])(?<!def )(?:globals|eval|exec|getmembers)\(|\bFire\([ \t]*\)|\b(?:locals|vars)\([^()]*\)[ \t]*\["
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
_MADE_UP = re.compile(
    rb"\b(?:rand|randn|randint|ones|zeros|empty|arange|rand_like|randn_like|doctest)\(|^[ \t]+print\(", re.MULTILINE
)
_PROGRAM = re.compile(
    rb"(?<![.\w])(?:main|train\w*|evaluate|run\w*|launch|spawn)[ \t]*\(|\bparse_args\b|\bArgumentParser\b|\bargv\b"
    rb"|\bDataLoader\b|\bepochs?\b|\.(?:fit|run|load_state_dict)\(|^[ \t]+(?:for|while)\b",
    re.MULTILINE,
)
"""What tells a program from a block that tries something out."""
_MODEL = re.compile(rb"\.backward\(|\bload_state_dict\(")
"""What a program does with a model, be it to train it or to use it."""
_MOVES = re.compile(
    rb"\.to\(|cuda|xla|device|set_default_tensor_type|accelerat|fabric|\bTrainer\b|lightning|ignite|deepspeed|fastai"
    rb"|transformers|diffusers|\bpipeline\("
)
"""What may put something on a device, in whatever way."""
_LEARNS = re.compile(
    rb"backward|\bgrad\b|optim|\bTrainer\b|\.(?:fit|learn|train_\w+)\(|lightning|accelerat|fastai|ignite|Learner"
    rb"|train_pipeline"
)
"""What may run a backward pass, in whatever way."""
_METADATA = ("pyproject.toml", "setup.cfg")
_TOPS = (".git", ".hg", ".svn", ".jj")


class Usage(msgspec.Struct, frozen=True):
    """``definitions`` are the top-level functions and classes that nothing names, by path; ``named`` all the names that
    occur in what runs, and None where methods may be called that the text does not name; ``trials`` the lines from
    which files try out what they define, by path."""

    definitions: dict[str, frozenset[str]] = {}
    named: frozenset[str] | None = None
    trials: dict[str, int] = {}
    moves: bool = True
    """Whether anything may be moved to a device, or made there: where nothing is, all lies on the host."""
    learns: bool = True
    """Whether anything may learn, so that there are backward passes."""

    def holds(self, path: str, qualname: str) -> bool:
        return qualname.split(".", 1)[0] in self.definitions.get(path, ())

    def is_trial(self, path: str, line: int) -> bool:
        return line > self.trials.get(path, line)


ALL_USED = Usage()


def usage_in(files: Mapping[str, File]) -> Usage:
    """What these files use of each other, which are all of a project, by their absolute paths."""
    of_libraries = packaged(files)
    trials = {path: line_of_main(file) for path, file in files.items() if len(files) > 1 and tries_out(file)}
    own = [file for path, file in files.items() if path not in of_libraries]
    if not own:
        return Usage(trials=trials)
    imported = frozenset(name for file in files.values() for name in imported_names(file))
    runs = any(starts(file, imported) and not is_read_by_others(file) for file in own)
    if runs and not are_complete(files):
        return Usage(trials=trials)
    is_open = bool(of_libraries) or not runs or not any(_MODEL.search(file.data) for file in own)
    moves = is_open or any(_MOVES.search(file.data) for file in own)
    learns = is_open or any(_LEARNS.search(file.data) for file in own)
    modules = frozenset(file.module_name for file in files.values())
    if not any(is_program(file, modules, imported) for file in own) or looks_anywhere(files):
        return Usage(trials=trials, moves=moves, learns=learns)
    open = of_libraries | opened(files)
    live = led_to(files, [file for path, file in files.items() if path in open or starts(file, imported)])
    reached = Reached(files, live, open)
    asks = any(_INTO.search(files[path].data) for path in live)
    named = None if asks else frozenset(map(os.fsdecode, reached.named))
    return Usage(reached.unreached(), named, trials, moves, learns)


def looks_anywhere(files: Mapping[str, File]) -> bool:
    """Whether names of any file may be meant by what is only known as the program runs."""
    return any(_ANYWHERE.search(file.data) for file in files.values())


def imported_names(file: File) -> frozenset[bytes]:
    """The parts of all names that a file imports."""
    literal = ((name, b"") for name in re.findall(_LITERAL, file.data))
    return frozenset(part for origin, name in (*file.imports.dotted, *literal) for part in (*origin.split(b"."), name))


def is_program(file: File, modules: frozenset[bytes], imported: frozenset[bytes]) -> bool:
    """Whether a file is there to be run, and not to be imported: it uses the other ``modules`` of the project, or says
    that it may be a program where it is the only one."""
    if file.module_name in imported or file.path.endswith("__init__.py") or file.module_name.startswith(b"test"):
        return False
    by_name = is_main(file.data) and not tries_out(file)
    if imported_names(file).isdisjoint(modules):
        return by_name and len(modules) == 1
    return by_name or any(map(_RUNS.match, statements(file)))


def statements(file: File) -> Iterator[bytes]:
    """What a file does where it is read."""
    return (one.text for one in file.definitions if not one.name and not one.is_import)


def tries_out(file: File) -> bool:
    """Whether the block for ``__main__`` only shows what the file defines, with made-up tensors."""
    if not is_main(file.data):
        return False
    blocks = [text for text in statements(file) if is_main(text)]
    return bool(blocks) and all(_MADE_UP.search(block) and not _PROGRAM.search(block) for block in blocks)


def line_of_main(file: File) -> int:
    return file.data[: file.data.rindex(b"__name__")].count(b"\n") + 1


def starts(file: File, imported: frozenset[bytes]) -> bool:
    """Whether a file is run for its own sake, be it by a test."""
    if is_main(file.data):
        return not tries_out(file)
    return is_read_by_others(file) or (file.module_name not in imported and any(map(_RUNS.match, statements(file))))


def is_read_by_others(file: File) -> bool:
    """Whether what a file defines is found by its name by what is no part of the program, such as tests."""
    name = file.module_name
    return name in _MODULES_OF_HOSTS or name.startswith(b"test") or name.endswith(b"_test")


def led_to(files: Mapping[str, File], pending: list[File]) -> frozenset[str]:
    """These files and those that they import, by themselves or through others."""
    named: dict[bytes, list[File]] = defaultdict(list)
    for file in files.values():
        named[file.module_name].append(file)
    found: set[str] = set()
    while pending:
        file = pending.pop()
        if file.path not in found:
            found.add(file.path)
            pending += [other for name in imported_names(file) for other in named.get(name, ())]
    return frozenset(found)


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
    """The definitions that the statements of the ``live`` files lead to, by names alone. Of the ``open`` ones any
    may be meant."""

    def __init__(self, files: Mapping[str, File], live: Collection[str], open: Collection[str]) -> None:
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
                if path in open or (path in live and is_root(file, definition)):
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
        tried = is_main(definition.text) and tries_out(file)
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
