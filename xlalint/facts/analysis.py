"""Sources in, facts out: in one process or in several, with the same result."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from xlalint.facts.assumptions import Assumptions
from xlalint.facts.evaluation import Evaluated, Index, Part, absolute, merge, without_collector
from xlalint.facts.events import Facts
from xlalint.facts.heat import HeatMap
from xlalint.facts.placing import Placing
from xlalint.facts.reach import files_with_xla
from xlalint.sources.source import Source

T = TypeVar("T")
Finish = Callable[[Source, "Facts | str"], T]
AssumptionsOf = Callable[[str], Assumptions]
SMALL = 400_000
"""Bytes of source below which a second process costs more than it brings."""


class Run(Protocol):
    """How to run: ``jobs`` processes, 0 for one each core."""

    @property
    def jobs(self) -> int: ...


class Whole:
    """What all processes found, together: enough to place the events of any file."""

    def __init__(self, by_path: dict[str, Source], indexes: Sequence[Index], parts: Iterable[list[Evaluated]]) -> None:
        functions = merge(parts)
        self.heat = HeatMap([one.facts for one in functions.values()])
        self.xla = files_with_xla(indexes, by_path)
        self.names = {path: source.path for path, source in by_path.items()}
        self.failed = {path: reason for index in indexes for path, reason in index.failed.items()}
        self.functions: dict[str, list[Evaluated]] = {}
        for key, one in functions.items():
            self.functions.setdefault(key[0], []).append(one)

    def facts(self, source: Source, assumptions: Assumptions) -> Facts | str:
        """The facts of one file, or why there are none."""
        path = absolute(source.path)
        if path in self.failed and path not in self.functions:
            return self.failed[path]
        return Facts(source.path, self.placing(source, assumptions).events(self.functions.get(path, [])))

    def placing(self, source: Source, assumptions: Assumptions) -> Placing:
        in_reach = absolute(source.path) in self.xla
        uses_xla = in_reach if assumptions.assume_xla is None else assumptions.assume_xla
        return Placing(source, self.heat, self.names, uses_xla, in_reach)


def analyse(
    sources: Sequence[Source], assumptions: AssumptionsOf, options: Run
) -> Iterator[tuple[Source, Facts | str]]:
    """The facts of each source, or why there are none, in the order of ``sources``."""
    return analyse_each(sources, assumptions, options, lambda source, facts: (source, facts))


def analyse_each(sources: Sequence[Source], assumptions: AssumptionsOf, options: Run, finish: Finish[T]) -> Iterator[T]:
    """``finish`` of each source and its facts, in the order of ``sources``, each in the process that read the file."""
    by_path = {absolute(source.path): source for source in sources}
    hints = merged_assumptions(by_path, assumptions)
    count = process_count(by_path, options.jobs)
    if count > 1:
        from xlalint.facts.processes import Team, can_fork

        if can_fork():
            team = Team(by_path, shares(by_path, count), hints)
            finished = team.run(lambda whole, source: finish(source, whole.facts(source, assumptions(source.path))))
            yield from (finished[absolute(source.path)] for source in sources)
            return
    without_collector()
    part = Part(by_path, by_path, hints)
    index = part.lower()
    found = part.evaluate(index.called)
    whole = Whole(by_path, [Index(index.called, dict(part.failed), index.imports, index.xla)], [found])
    for source in sources:
        yield finish(source, whole.facts(source, assumptions(source.path)))


def merged_assumptions(by_path: dict[str, Source], assumptions: AssumptionsOf) -> Assumptions:
    """The hints of all configurations together: names of loaders and steps may be used across folders."""
    hints = [assumptions(source.path) for source in by_path.values()]
    by_file = dict(zip(by_path, hints, strict=True))
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
