"""The analysis of a set of files, in one process or in several, with the same result."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from xlalint.facts.driver.called_names import called_in
from xlalint.facts.driver.counters import Count, Counters, Follow, size_of, unfollowed
from xlalint.facts.driver.partition import Partition, without_collector
from xlalint.facts.driver.program_facts import ProgramFacts
from xlalint.facts.driver.workspace import ALONE, Around, Workspace, absolute
from xlalint.facts.failures import Analysed
from xlalint.facts.options import Assumptions
from xlalint.sources.source import Source

T = TypeVar("T")
Finish = Callable[[Source, Analysed], T]
AssumptionsOf = Callable[[str], Assumptions]
SMALL = 400_000
"""Bytes of source below which a second process costs more than it brings."""


class Run(Protocol):
    """How to run: ``jobs`` processes, 0 for one each core."""

    @property
    def jobs(self) -> int: ...


def analyse(
    sources: Sequence[Source], assumptions: AssumptionsOf, options: Run, around: Around = ALONE
) -> Iterator[tuple[Source, Analysed]]:
    """The facts of each source, in the order of ``sources``."""
    return analyse_each(sources, assumptions, options, lambda source, analysed: (source, analysed), around)


def analyse_each(
    sources: Sequence[Source],
    assumptions: AssumptionsOf,
    options: Run,
    finish: Finish[T],
    around: Around = ALONE,
    follow: Follow = unfollowed,
) -> Iterator[T]:
    """``finish`` of each source and its facts, in the order of ``sources``, each in the process that read the file;
    then of those files beside them that they hand tensors."""
    workspace = workspace_of(sources, assumptions, around)
    count = process_count(workspace.sources, options.jobs)

    def finish_one(whole: ProgramFacts, source: Source) -> T:
        return finish(source, whole.analysed(source, assumptions(source.path)))

    if count > 1:
        from xlalint.facts.driver.workers import WorkerPool, can_fork

        if can_fork():
            yield from WorkerPool(workspace, shares(workspace.sources, count), follow).run(finish_one)
            return
    without_collector()
    counters = Counters([*workspace.sources], memoryview(bytearray(size_of(1))))
    follow(counters.counted)
    part = Partition(workspace, workspace.sources)
    part.counter = counters.of(0)
    index = part.lower()
    found = part.evaluate(called_in([index]))
    whole = ProgramFacts(workspace, [index, *part.lower_around()], [found], part.failures)
    for path in whole.reported:
        yield finish_one(whole, workspace.source(path))
        part.counter.add(Count.FINISHED)


def workspace_of(sources: Iterable[Source], assumptions: AssumptionsOf, around: Around = ALONE) -> Workspace:
    by_path = {absolute(source.path): source for source in sources}
    shown = {path: source.path for path, source in by_path.items()}
    if around.surroundings is not None:
        shown = {path: shown.get(path, path) for path in sorted(around.surroundings.files)}
    merged = merged_assumptions(shown, assumptions)
    return Workspace(by_path, merged, around.beside, around.reported, around.surroundings, around.usage)


def merged_assumptions(shown: dict[str, str], assumptions: AssumptionsOf) -> Assumptions:
    """The hints of all configurations together: names of loaders and steps may be used across folders. ``shown`` are
    the files, with their paths as shown."""
    hints = [assumptions(path) for path in shown.values()]
    by_file = dict(zip(shown, hints, strict=True))
    ops, ops_by_file = merged({path: each.ops for path, each in by_file.items()})
    follower, follower_by_file = merged({path: each.follower for path, each in by_file.items()})
    return Assumptions(
        None,
        frozenset().union(*(h.loaders for h in hints)),
        frozenset().union(*(h.step_functions for h in hints)),
        frozenset().union(*(h.boundaries for h in hints)),
        frozenset().union(*(h.host_functions for h in hints)),
        ops,
        ops_by_file,
        next((each.torch_version for each in hints if each.torch_version), None),
        follower,
        follower_by_file,
    )


def merged(by_path: dict[str, T | None]) -> tuple[T | None, dict[str, T]]:
    """One where all files agree: it holds for what they import, too. Otherwise one for each file that has one."""
    if len({id(each) for each in by_path.values()}) == 1:
        return next(iter(by_path.values())), {}
    return None, {path: each for path, each in by_path.items() if each is not None}


def process_count(by_path: dict[str, Source], jobs: int) -> int:
    size = sum(len(source.text) for source in by_path.values())
    if jobs == 0:
        jobs = os.cpu_count() or 1 if size > SMALL else 1
    return max(1, min(jobs, len(by_path)))


def shares(by_path: dict[str, Source], count: int) -> list[list[str]]:
    """The files in ``count`` runs of about the same size; neighbours stay together, as they call each other."""
    total = sum(len(source.text) for source in by_path.values())
    found: list[list[str]] = [[] for _ in range(count)]
    passed = 0
    for path in sorted(by_path):
        found[min(count - 1, passed * count // max(total, 1))].append(path)
        passed += len(by_path[path].text)
    return found
