"""Runs the linter: reads the files, analyses them, applies the rules, and returns a report."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

import msgspec

from xlalint.cache.folder import CacheFolder, default_cache
from xlalint.facts.driver.counters import Counted, Follow, unfollowed
from xlalint.facts.driver.workspace import Around
from xlalint.facts.events import Span
from xlalint.facts.external import Follower
from xlalint.facts.failures import Analysed, Failure, reason_of
from xlalint.facts.options import Assumptions
from xlalint.findings.check import Judge, Tools
from xlalint.findings.configuration import Configurations
from xlalint.findings.model import Diagnostic, Edit, Fix, HeldBack, Judged, Report, Rule, Skipped, UsedProfile
from xlalint.findings.places import Anchors, Lines, PlainAnchors
from xlalint.findings.registry import Listed, Loaded, listed, load_rules
from xlalint.findings.selection import counts_in, is_selected, refuse_unknown_in
from xlalint.findings.settings import Configuration
from xlalint.findings.suppression import UNUSED
from xlalint.inputs import Input, Stdin, gather
from xlalint.sources.read import lines_of
from xlalint.sources.source import Source


class Options(msgspec.Struct, frozen=True):
    """How to run; ``jobs`` 0 means one process for each core."""

    jobs: int = 0
    cache: CacheFolder | None = None
    """Where what is found out of installed packages is kept between runs."""
    project: str | None = None
    """The folder of the project that the named files belong to; None: where they lie says it."""
    alone: bool = True
    """Whether nothing is read but what is named, and what that imports."""


class Progress(Protocol):
    """Told how far a run is."""

    def reading(self, done: int, total: int) -> None:
        """So many of the named files are read."""

    def analysing(self, counted: Callable[[], Counted]) -> None:
        """From now on ``counted`` says it, whenever it is asked."""


Finish = Callable[[Source, Analysed], Judged]


class AnalyseEach(Protocol):
    """The engine. Hands each source to ``finish`` once, with its facts and what there are none of."""

    def __call__(
        self,
        sources: Sequence[Source],
        assumptions: Callable[[str], Assumptions],
        options: Options,
        finish: Finish,
        around: Around,
        follow: Follow,
    ) -> Iterator[Judged]: ...


def lint(
    paths: Sequence[Path],
    configurations: Configurations,
    options: Options,
    *,
    stdin: Stdin | None = None,
    progress: Progress | None = None,
) -> Report:
    """Lint ``paths`` and what came by ``stdin``.

    Raises ``ConfigurationError`` and ``RegistryError``; a file that can't be linted is in ``Report.skipped``.
    """
    started = time.perf_counter()
    told = progress.reading if progress is not None else None
    given = gather(paths, configurations, stdin, options.project, alone=options.alone, told=told)
    bench = Bench(configurations)
    folders = sorted({os.path.dirname(os.path.abspath(one)) for one in given.named})
    bench.refuse_unknown_selectors([os.getcwd(), *folders])
    for folder in folders:
        configurations.refuse_missing_packages(folder)
    diagnostics: list[Diagnostic] = []
    skipped: list[Skipped] = []
    held_back: list[str] = []
    imports_xla = not given.sources
    follow = progress.analysing if progress is not None else unfollowed
    for judged in _judged(given, configurations, options, bench.judge, follow):
        # What leads to the named files is no matter of theirs, but that the linter failed on it is.
        is_named = judged.path in given.named
        skipped.extend(one for one in judged.skipped if is_named or one.internal)
        diagnostics.extend(judged.diagnostics if is_named else ())
        imports_xla = imports_xla or (is_named and judged.imports_xla)
        held_back.extend(judged.held_back if is_named else ())
    left_out = {one.path for one in skipped if not one.line}
    return Report(
        diagnostics=tuple(sorted(diagnostics, key=lambda one: (one.path, one.at, one.code))),
        skipped=tuple(sorted([*given.unread, *skipped], key=lambda one: (one.path, one.line, one.function))),
        files=len(given.named - left_out - {one.path for one in given.unread}),
        seconds=time.perf_counter() - started,
        named_missing=given.missing,
        profiles=_profiles(given.named, configurations),
        held_back=None if imports_xla else _held_back(held_back, configurations.of_folder(os.getcwd())),
        remarks=given.remarks,
    )


def lint_one(source: Source, given: Input, *configurations: Configurations) -> list[Judged]:
    """One source in a run over what is given: what is said of it under each of the configurations, suppressed findings
    included. They have the same hints and profile."""
    benches = [Bench(each) for each in configurations]
    judged: list[Judged] = []

    def judge(one: Source, analysed: Analysed) -> Judged:
        if one.path == source.path:
            judged.extend(bench.judge(one, analysed) for bench in benches)
        return Judged(one.path)

    # In this process alone, where what is judged can be kept.
    for _ in _judged(given, configurations[0], Options(jobs=1, cache=default_cache()), judge):
        pass
    return judged or [Judged(source.path) for _ in benches]


def rules_of(configuration: Configuration) -> tuple[Loaded, ...]:
    """All rules that the configuration can choose from, imported. Raises ``RegistryError``, ``ConfigurationError``."""
    return load_rules(configuration.settings.plugins)


def listed_rules(configuration: Configuration) -> tuple[Listed, ...]:
    return listed(configuration.settings.plugins)


def later_tools() -> Tools:
    """The exact place of findings and their fixes, from the stage that reads by libcst; imported on first use."""
    return Tools(anchors=_anchors, text_edits=_text_edits, lines_of=lru_cache(maxsize=64)(lines_of))


def _anchors(source: Source, lines: Lines) -> Anchors:
    def exact() -> Anchors:
        from xlalint.edits.anchor import Anchors as Exact

        return Exact(source)

    return PlainAnchors(lines, exact)


def _text_edits(edit: Edit, source: Source, statement: Span) -> Fix | None:
    from xlalint.edits.fixes import text_edits

    return text_edits(edit, source, statement)


class Bench:
    """The judges of a run, one for each configuration, made when the first file needs it."""

    def __init__(self, configurations: Configurations) -> None:
        self._configurations = configurations
        self._judges: dict[tuple[str | None, str], Judge] = {}
        self._tools = later_tools()

    def judge(self, source: Source, analysed: Analysed) -> Judged:
        """The diagnostics of one file, and what of it was not linted."""
        failures = tuple(_skipped(source, one) for one in analysed.failures)
        if analysed.unread:
            return Judged(source.path, skipped=failures)
        if self._has_nothing_for(analysed, source.path):
            return Judged(source.path, skipped=failures, imports_xla=analysed.imports_xla)
        try:
            judged = self._judge_for(source.path).check(source, analysed, self._tools)
        except Exception as error:  # a bug of ours must not cost the user the other files
            return Judged(source.path, (), (*failures, Skipped(source.path, reason_of(error), internal=True)))
        return msgspec.structs.replace(judged, skipped=(*failures, *judged.skipped))

    def refuse_unknown_selectors(self, folders: Iterable[str]) -> None:
        """A wrong selector, and a plugin that can't be loaded, is an error even where nothing is found, and before
        several processes meet it. Rules are imported only if some are named."""
        seen: set[tuple[str | None, str]] = set()
        for folder in dict.fromkeys(folders):
            configuration = self._configurations.of_folder(folder)
            if _key(configuration) in seen or not _names_rules(configuration):
                continue
            seen.add(_key(configuration))
            refuse_unknown_in(configuration, _with_unused(rules_of(configuration)))

    def _has_nothing_for(self, analysed: Analysed, path: str) -> bool:
        """Whether no rule has anything to say, which spares the import of all. Of a plugin's rule it isn't known."""
        configuration = self._configurations.of_file(path)
        quiet = not analysed.facts and not is_selected(UNUSED, configuration)
        return quiet and not configuration.settings.plugins

    def _judge_for(self, path: str) -> Judge:
        configuration = self._configurations.of_file(path)
        key = _key(configuration)
        if key not in self._judges:
            self._judges[key] = Judge(configuration, rules_of(configuration))
        return self._judges[key]


class Followers:
    """The followers of calls into installed packages: one for each environment that the configurations of a run name.
    What they find out is kept in ``cache`` between runs."""

    def __init__(self, configurations: Configurations, cache: CacheFolder | None = None) -> None:
        self._configurations = configurations
        self._cache = cache
        self._found: dict[tuple[str | None, str], Follower] = {}

    def assumptions(self, path: str) -> Assumptions:
        """What a file's configuration lets the analysis assume."""
        configuration = self._configurations.of_file(path)
        return _assumptions(configuration, self._follower(configuration))

    def _follower(self, configuration: Configuration) -> Follower | None:
        if not configuration.settings.follow:
            return None
        key = _key(configuration)
        if key not in self._found:
            make = import_module("xlalint.installed.follower").follower
            ops = configuration.profile.ops if configuration.profile is not None else None
            environment = configuration.settings.python
            self._found[key] = cast(Follower, make(environment, configuration.root, ops, self._cache))
        return self._found[key]


def _assumptions(configuration: Configuration, follower: Follower | None = None) -> Assumptions:
    settings = configuration.settings
    hints = settings.hints
    return Assumptions(
        assume_xla=None if settings.assume_xla == "auto" else settings.assume_xla,
        loaders=frozenset(hints.loaders),
        step_functions=frozenset(hints.step_functions),
        boundaries=frozenset(hints.boundaries),
        host_functions=frozenset(hints.host_functions),
        ops=configuration.profile.ops if configuration.profile is not None else None,
        torch_version=settings.torch_xla_version,
        follower=follower,
    )


def _judged(
    given: Input, configurations: Configurations, options: Options, judge: Finish, follow: Follow = unfollowed
) -> Iterator[Judged]:
    """The findings of each file, made in the process that analysed it."""
    if not given.sources:
        return
    analyse_each = cast(AnalyseEach, import_module("xlalint.facts.driver.analysis").analyse_each)
    assumptions = Followers(configurations, options.cache).assumptions
    yield from analyse_each(given.sources, assumptions, options, judge, given.around, follow)


def _skipped(source: Source, failure: Failure) -> Skipped:
    return Skipped(source.path, failure.reason, failure.line, failure.function, failure.internal)


def _profiles(paths: Iterable[str], configurations: Configurations) -> tuple[UsedProfile, ...]:
    """Those that hold for any of the files, each once."""
    found = (configurations.of_file(path).profile for path in paths)
    used = {profile.path: UsedProfile(profile.path, profile.device) for profile in found if profile is not None}
    return tuple(used[path] for path in sorted(used))


def _held_back(codes: Sequence[str], configuration: Configuration) -> HeldBack | None:
    """What is told of a run without torch_xla, unless the user has said whether it runs there."""
    if configuration.settings.assume_xla != "auto":
        return None
    rules = (loaded.rule for loaded in rules_of(configuration) if loaded.rule.needs_xla)
    used = (rule.code for rule in rules if is_selected(rule, configuration) and counts_in(rule, configuration))
    return HeldBack(tuple(sorted({*used, *codes})), len(codes))


def _with_unused(rules: Sequence[Loaded]) -> list[Rule]:
    return [UNUSED, *(loaded.rule for loaded in rules)]


def _key(configuration: Configuration) -> tuple[str | None, str]:
    return (configuration.file, configuration.root)


def _names_rules(configuration: Configuration) -> bool:
    settings, line = configuration.settings, configuration.command_line
    named = (line.select, line.extend_select, line.ignore, settings.extend_select, settings.ignore)
    of_rules = settings.severity or settings.per_file_ignores or settings.plugins
    return any(named) or settings.select != ("ALL",) or bool(of_rules)
