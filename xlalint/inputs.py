"""Collects the input of a run: the named files, and the files of their project that may call them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import msgspec

from xlalint.facts.driver.workspace import Around, Surroundings
from xlalint.findings.configuration import Configurations
from xlalint.findings.errors import ConfigurationError
from xlalint.findings.model import Skipped
from xlalint.program.import_graph import ImportGraph
from xlalint.program.link import INSTALLED
from xlalint.program.main_blocks import has_main_block
from xlalint.program.packaging import is_checkout
from xlalint.program.syntax import Unparsable, parse
from xlalint.program.usage import ALL_USED, usage_in
from xlalint.sources import observed
from xlalint.sources.dependents import File, Index
from xlalint.sources.discover import Found, discover, shown
from xlalint.sources.ignored import excluded_with_parents
from xlalint.sources.read import decode, read_bytes
from xlalint.sources.screen import calls_what_costs, imports_torch
from xlalint.sources.source import Source, Unreadable


class Stdin(msgspec.Struct, frozen=True):
    """Source text that came by standard input. ``name`` is its path as the user gave it, or ``-``."""

    name: str
    data: bytes

    def lines(self) -> list[str] | None:
        """None if it is no text."""
        try:
            return decode(self.data, self.name).lines()
        except Unreadable:
            return None


class Input(msgspec.Struct, frozen=True):
    """What was found and read."""

    sources: tuple[Source, ...]
    """What is analysed for its own sake."""
    named: frozenset[str]
    """The files that the user asked about, as they are shown."""
    around: Around
    unread: tuple[Skipped, ...] = ()
    """Those of the named files that can't be read."""
    missing: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    """What the user should know of how it was read, a line each."""


def gather(
    paths: Sequence[Path],
    configurations: Configurations,
    stdin: Stdin | None = None,
    project: str | None = None,
    *,
    alone: bool = False,
    told: Callable[[int, int], None] | None = None,
) -> Input:
    """Read what ``paths`` stand for and ``stdin``, and of the files around them what may lead to them: those of the
    folder ``project``, else of the projects that they lie in, or none where they are to be read ``alone``.
    ``told`` gets how many of the named files are read, and how many there are.

    Raises ``ConfigurationError``.
    """
    found = discover(paths, lambda folder: configurations.of_folder(folder).excludes())
    texts = Texts(configurations)
    for refused in found.refused:
        texts.unread.append(Skipped(refused.shown, refused.reason))
    for done, file in enumerate(found.files):
        if told is not None:
            told(done, len(found.files))
        texts.take(file)
    texts.take_stdin(stdin)
    reported = frozenset(texts.data)
    spelled = reported - {file.path for file in found.files if not file.named}
    remarks: list[str] = []
    roots = [] if alone else projects(paths, stdin, project, configurations)
    for root in roots:
        remarks += texts.take_project(root)
    # Of a file by itself nobody knows who uses it.
    given = _input(texts, reported, remarks, bool(roots) or any(map(observed.is_folder, map(os.fspath, paths))))
    # Who names a file wants to know that it can be read, be there torch in it or not.
    for path in sorted(spelled & given.around.beside.keys()):
        texts.check(path)
    return msgspec.structs.replace(given, unread=tuple(texts.unread), missing=found.missing)


class Texts:
    """The bytes of all files that were read, by absolute path, and how they are shown."""

    def __init__(self, configurations: Configurations) -> None:
        self.configurations = configurations
        self.data: dict[str, bytes] = {}
        self.shown: dict[str, str] = {}
        self.unread: list[Skipped] = []

    def take(self, file: Found) -> None:
        """A file that is named."""
        try:
            self.put(file)
        except Unreadable as error:
            self.unread.append(Skipped(file.shown, str(error)))

    def put(self, file: Found) -> None:
        limit = self.configurations.of_file(file.path).settings.max_file_size
        self.data[file.path] = read_bytes(Path(file.path), limit)
        self.shown[file.path] = file.shown

    def take_stdin(self, stdin: Stdin | None) -> None:
        if stdin is None or _is_excluded(stdin, self.configurations):
            return
        path = os.path.abspath(stdin.name)
        self.data[path] = stdin.data
        self.shown[path] = stdin.name

    def take_project(self, root: str) -> list[str]:
        """The other files of a project; gives what is to be said where they are not read."""
        most = self.configurations.of_folder(root).settings.project_max_files
        try:
            found = discover([Path(root)], lambda folder: self.configurations.of_folder(folder).excludes(), most)
        except ConfigurationError as error:
            return [f"the project {shown(root)} is not read, only what is named: {error}"]
        if found.too_many:
            known = f"more than {most} Python files (`project-max-files`)"
            return [f"the project {shown(root)} has {known}: only what is named is read, and not what leads to it"]
        for file in found.files:
            if file.path not in self.data:
                try:
                    self.put(file)
                except Unreadable:
                    continue  # who names it is told
        return []

    def check(self, path: str) -> None:
        """Tell of a named file that is no text, or no Python."""
        try:
            parse(decode(self.data[path], self.shown[path]).text)
        except (Unreadable, Unparsable) as error:
            self.unread.append(Skipped(self.shown[path], str(error)))

    def source(self, path: str, is_named: bool) -> Source | None:
        """The text of a file; None for one that is no text, which is told of those that are named."""
        try:
            return decode(self.data[path], self.shown[path])
        except Unreadable as error:
            if is_named:
                self.unread.append(Skipped(self.shown[path], str(error)))
            return None


def _input(texts: Texts, reported: frozenset[str], remarks: Sequence[str], whole: bool) -> Input:
    files = {path: File(path, data) for path, data in texts.data.items()}
    graph = ImportGraph(files)
    kept = _kept(texts.data, graph)
    surroundings = None if kept <= reported else surroundings_of(files, graph, kept, reported)
    wanted = kept if surroundings is None else kept & (reported | surroundings.leading.keys())
    sources = [source for path in wanted if (source := texts.source(path, path in reported)) is not None]
    sources.sort(key=lambda source: source.path)
    beside = {path: name for path, name in texts.shown.items() if path not in kept}
    return Input(
        tuple(sources),
        frozenset(texts.shown[path] for path in reported),
        Around(beside, reported, surroundings, usage_in(files) if whole else ALL_USED),
        remarks=tuple(remarks),
    )


def surroundings_of(
    files: dict[str, File], graph: ImportGraph, kept: frozenset[str], reported: frozenset[str]
) -> Surroundings | None:
    """What lies around the files that lead to those reported; None where most of the project does, and is best
    analysed as a whole."""
    index = Index(files)
    leading = index.dependents(reported, sum(len(files[path].data) for path in kept) // 2)
    return None if leading is None else Surroundings(index, graph, kept, leading)


def _kept(data: dict[str, bytes], graph: ImportGraph) -> frozenset[str]:
    """The files that can hold tensors: they import torch, or such a file of the project and do what costs to what that
    gives, or are scripts, which tell how often it runs."""
    kept = {path for path, text in data.items() if imports_torch(text)}
    others = [
        path for path, text in data.items() if path not in kept and (calls_what_costs(text) or has_main_block(text))
    ]
    return frozenset(kept.union(path for path in others if graph.leads_to(path, kept)))


def projects(
    paths: Iterable[Path], stdin: Stdin | None, project: str | None, configurations: Configurations
) -> list[str]:
    """The folders of the projects that hold what is named, each once, outermost first."""
    if project is not None:
        return [os.path.abspath(project)]
    named = [os.path.abspath(path) for path in paths]
    if stdin is not None and stdin.name != "-":
        named.append(os.path.abspath(stdin.name))
    folders = dict.fromkeys(path if observed.is_folder(path) else os.path.dirname(path) for path in named)
    roots = {root for folder in folders if (root := _project_of(folder, configurations)) is not None}
    # Who names the folder of a project has read all of it.
    read = {path for path in named if path in folders}
    return sorted(root for root in roots if not any(_lies_in(root, other) for other in read | (roots - {root})))


def _project_of(folder: str, configurations: Configurations) -> str | None:
    """The folder of the nearest configuration, else of the nearest ``pyproject.toml`` or version control."""
    configuration = configurations.of_folder(folder)
    root = configuration.root if configuration.file is not None else _upwards(folder, _is_top)
    if root is None or not _lies_in(folder, root):
        return None
    # What is installed is no part of the project that it is installed for.
    below = os.path.relpath(folder, root).split(os.sep)
    return root if INSTALLED.isdisjoint(below) else None


def _is_top(folder: str) -> bool:
    return observed.exists(os.path.join(folder, "pyproject.toml")) or is_checkout(folder)


def _upwards(folder: str, holds: Callable[[str], bool]) -> str | None:
    while not holds(folder):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder


def _lies_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _is_excluded(stdin: Stdin, configurations: Configurations) -> bool:
    path = os.path.abspath(stdin.name)
    excludes = configurations.of_file(path).excludes()
    return excludes.force and excluded_with_parents(excludes, path)
