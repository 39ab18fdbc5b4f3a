"""Supports tests of rules and facts: lints texts, reveals values, builds facts by hand."""

from __future__ import annotations

import importlib
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from xlalint.facts.domain.values import UNKNOWN, Value
from xlalint.facts.driver.workspace import Around, Workspace
from xlalint.facts.events import Event, Facts
from xlalint.facts.external import Follower
from xlalint.facts.failures import Analysed, Failure
from xlalint.facts.options import Assumptions
from xlalint.findings.configuration import Configurations
from xlalint.findings.model import Diagnostic, Judged, Skipped
from xlalint.findings.settings import defaults
from xlalint.linting import Bench, Options
from xlalint.program.usage import usage_in
from xlalint.sources.dependents import File
from xlalint.sources.source import Source


def facts_of(
    text: str, path: str = "page.py", *, assume_xla: bool | None = None, installed: Mapping[str, str] | None = None
) -> Facts:
    """The facts of one text. ``installed`` are files of packages that it may import.

    Raises ``ValueError`` for a text that can't be analysed as a whole.
    """
    analyse = importlib.import_module("xlalint.facts.driver.analysis").analyse
    with tempfile.TemporaryDirectory() as folder:
        assumptions = Assumptions(assume_xla=assume_xla, follower=follower_into(installed, folder))
        found: Iterator[tuple[Source, Analysed]] = analyse(
            [Source(path, text, "utf-8")], lambda _: assumptions, Options(jobs=1)
        )
        return whole(next(found)[1])


def whole(analysed: Analysed) -> Facts:
    """The facts of a file, all of which was analysed. Raises ``ValueError``."""
    if analysed.failures:
        raise ValueError("; ".join(described(one) for one in analysed.failures))
    return analysed.facts


def described(failure: Failure | Skipped) -> str:
    return f"line {failure.line}, {failure.function}: {failure.reason}" if failure.line else failure.reason


def diagnostics_of(judged: Judged) -> list[Diagnostic]:
    """What is found in a file, suppressed findings left out. Raises ``ValueError`` where a rule failed."""
    if judged.skipped:
        raise ValueError("; ".join(map(described, judged.skipped)))
    return [one for one in judged.diagnostics if one.suppressed is None]


def follower_into(installed: Mapping[str, str] | None, folder: str) -> Follower | None:
    """Who follows calls into packages that are laid out below ``folder`` for it."""
    if not installed:
        return None
    laid_out(installed, folder)
    make = importlib.import_module("xlalint.installed.follower").follower
    made: Follower = make(folder, folder, None, None)
    return made


def selecting(codes: Iterable[str]) -> Configurations:
    """The default configuration, with the rules of ``codes`` on even if they are off by default."""
    found = defaults()
    settings = msgspec.structs.replace(found.settings, extend_select=tuple(codes))
    return Configurations(fixed=msgspec.structs.replace(found, settings=settings))


def findings_of(
    text: str, path: str = "page.py", *, select: Iterable[str] = (), installed: Mapping[str, str] | None = None
) -> list[Diagnostic]:
    """The findings of one text with the default configuration, suppressed ones left out; the rules of ``select`` are
    on even if they are off by default. ``installed`` are files of packages that it may import.

    Raises ``ValueError`` for a text that can't be linted.
    """
    facts = facts_of(text, path, installed=installed)
    return diagnostics_of(Bench(selecting(select)).judge(Source(path, text, "utf-8"), Analysed(facts)))


def findings_in(
    files: Mapping[str, str],
    *,
    assume_xla: bool | None = None,
    select: Iterable[str] = (),
    installed: Mapping[str, str] | None = None,
) -> list[Diagnostic]:
    """The findings of several files, by the default configuration and with the rules of ``select``; paths as given,
    imports between them resolve, and those of the packages whose files are ``installed``.

    Raises ``ValueError`` for a text that can't be linted.
    """
    analyse = importlib.import_module("xlalint.facts.driver.analysis").analyse
    found: list[Diagnostic] = []
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as packages:
        assumptions = Assumptions(assume_xla=assume_xla, follower=follower_into(installed, packages))
        bench = Bench(selecting(select))
        sources = laid_out(files, folder)
        pairs = analyse(sources, lambda _: assumptions, Options(jobs=1), around_all(sources))
        for source, analysed in pairs:
            try:
                judged = diagnostics_of(bench.judge(source, analysed))
            except ValueError as error:
                raise ValueError(f"{os.path.relpath(source.path, folder)}: {error}") from None
            found.extend(_moved(one, folder) for one in judged)
    return sorted(found, key=lambda one: (one.path, one.at, one.code))


def facts_in(files: Mapping[str, str], *, assume_xla: bool | None = None) -> dict[str, Facts]:
    """The facts of several files, by path as given; imports between them resolve.

    Raises ``ValueError`` for a text that can't be analysed as a whole.
    """
    analyse = importlib.import_module("xlalint.facts.driver.analysis").analyse
    with tempfile.TemporaryDirectory() as folder:
        assumptions = Assumptions(assume_xla=assume_xla)
        sources = laid_out(files, folder)
        found: Iterator[tuple[Source, Analysed]] = analyse(sources, lambda _: assumptions, Options(jobs=1))
        by_path = {source.path: whole(analysed) for source, analysed in found}
        return {name: by_path[source.path] for name, source in zip(files, sources, strict=True)}


def revealed(files: Mapping[str, str]) -> dict[tuple[str, int], str]:
    """What ``reveal(x)`` prints, by path and line: the join of all that ``x`` was seen to be there.

    A context in which nothing is known of ``x`` counts only where there is no other. Raises ``ValueError`` for a
    text that can't be parsed.
    """
    show = importlib.import_module("xlalint.facts.domain.display").show
    return {place: show(value) for place, value in revealed_values(files).items()}


def revealed_values(files: Mapping[str, str]) -> dict[tuple[str, int], Value]:
    """What ``reveal(x)`` prints, as the value itself."""
    join_all = importlib.import_module("xlalint.facts.domain.lattice").join_all
    part_of = importlib.import_module("xlalint.facts.driver.partition").Partition
    seen: dict[tuple[str, int], list[Value]] = {}
    with tempfile.TemporaryDirectory() as folder:
        sources = {source.path: source for source in laid_out(files, folder)}
        part = part_of(Workspace(sources, Assumptions()), sources)
        called_in = importlib.import_module("xlalint.facts.driver.called_names").called_in
        engine = part.engine(called_in([part.lower()]))
        engine.reveal = lambda path, line, value: seen.setdefault((path, line), []).append(value)
        part.evaluate_with(engine, part.own)
        if part.failures:
            raise ValueError("; ".join(map(described, part.failures)))
        return {
            (os.path.relpath(path, folder).replace(os.sep, "/"), line): join_all(
                [value for value in values if value is not UNKNOWN]
            )
            for (path, line), values in seen.items()
        }


def laid_out(files: Mapping[str, str], folder: str) -> list[Source]:
    """The files written below ``folder``, as sources with absolute paths."""
    root = Path(folder).resolve()
    sources = []
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        sources.append(Source(str(path), text, "utf-8"))
    return sources


def around_all(sources: Iterable[Source]) -> Around:
    """What is known of a project that has these files and no others."""
    return Around(usage=usage_in({source.path: File(source.path, source.text.encode()) for source in sources}))


def _moved(one: Diagnostic, folder: str) -> Diagnostic:
    """The same finding with its paths below ``folder``."""

    def shown(path: str) -> str:
        return os.path.relpath(path, os.path.realpath(folder)).replace(os.sep, "/")

    why = tuple(msgspec.structs.replace(reason, path=shown(reason.path)) for reason in one.why)
    root = None if one.root is None else msgspec.structs.replace(one.root, path=shown(one.root.path))
    return msgspec.structs.replace(one, path=shown(one.path), why=why, root=root)


def facts_with(*events: Event, path: str = "page.py") -> Facts:
    return Facts(path, events)


def all_events(facts: Facts) -> Iterable[Event]:
    from xlalint.facts.events import Effect

    return facts.events(*Effect)
