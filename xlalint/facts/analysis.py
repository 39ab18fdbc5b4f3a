"""Sources in, facts out: in one process or in several, with the same result."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from xlalint.facts.assumptions import Assumptions
from xlalint.facts.evaluation import Evaluated, Index, Part, merge, without_collector
from xlalint.facts.events import Event, Facts
from xlalint.facts.failures import Analysed, Failure, reason_of
from xlalint.facts.heat import HeatMap
from xlalint.facts.placing import Placing
from xlalint.facts.reach import files_with_xla
from xlalint.facts.workspace import ALONE, Around, Workspace, absolute
from xlalint.program import ir
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


class Whole:
    """What all processes found, together: enough to place the events of any file."""

    def __init__(
        self,
        workspace: Workspace,
        indexes: Sequence[Index],
        parts: Iterable[list[Evaluated]],
        failures: Iterable[Failure],
    ) -> None:
        functions = merge(parts)
        self.heat = HeatMap([one.facts for one in functions.values()], workspace.files)
        self.xla = files_with_xla(indexes, workspace.files)
        self.names = {**workspace.beside, **{path: source.path for path, source in workspace.sources.items()}}
        self.failures: dict[str, list[Failure]] = {}
        for failure in sorted(set(failures)):
            self.failures.setdefault(failure.path, []).append(failure)
        self.functions: dict[str, list[Evaluated]] = {}
        for key, one in functions.items():
            self.functions.setdefault(key[0], []).append(one)
        files = dict.fromkeys((*workspace.sources, *workspace.beside, *self.failures))
        self.reported = tuple(path for path in files if self.is_told(path, workspace))
        """The files of which something is told: those of the run, those beside them that are handed tensors, and those
        around them on which the linter failed."""

    def is_told(self, path: str, workspace: Workspace) -> bool:
        if any(failure.internal for failure in self.failures.get(path, ())):
            return True
        if not workspace.is_reported(path):
            return False
        handed = path in workspace.beside and any(one.events for one in self.functions.get(path, ()))
        return handed or path in workspace.sources

    def analysed(self, source: Source, assumptions: Assumptions) -> Analysed:
        """The facts of one file, and what there are none of."""
        path = absolute(source.path)
        failures = [*self.failures.get(path, ())]
        placing = self.placing(source, assumptions)
        events: list[Event] = []
        for one in self.functions.get(path, ()):
            try:
                events.extend(placing.events([one]))
            except Exception as error:  # a bug of ours must not cost the user the other functions
                line, name = ir.unpack(one.facts.key[2])[0], one.facts.key[1]
                failures.append(Failure(path, line, name, reason_of(error), True))
        return Analysed(Facts(source.path, events), tuple(failures))

    def placing(self, source: Source, assumptions: Assumptions) -> Placing:
        in_reach = absolute(source.path) in self.xla
        uses_xla = in_reach if assumptions.assume_xla is None else assumptions.assume_xla
        return Placing(source, self.heat, self.names, uses_xla, in_reach)


def analyse(sources: Sequence[Source], assumptions: AssumptionsOf, options: Run) -> Iterator[tuple[Source, Analysed]]:
    """The facts of each source, in the order of ``sources``."""
    return analyse_each(sources, assumptions, options, lambda source, analysed: (source, analysed))


def analyse_each(
    sources: Sequence[Source],
    assumptions: AssumptionsOf,
    options: Run,
    finish: Finish[T],
    around: Around = ALONE,
) -> Iterator[T]:
    """``finish`` of each source and its facts, in the order of ``sources``, each in the process that read the file;
    then of those files beside them that they hand tensors."""
    workspace = workspace_of(sources, assumptions, around)
    count = process_count(workspace.sources, options.jobs)

    def finish_one(whole: Whole, source: Source) -> T:
        return finish(source, whole.analysed(source, assumptions(source.path)))

    if count > 1:
        from xlalint.facts.processes import Team, can_fork

        if can_fork():
            yield from Team(workspace, shares(workspace.sources, count)).run(finish_one)
            return
    without_collector()
    part = Part(workspace, workspace.sources)
    index = part.lower()
    found = part.evaluate(index.called)
    whole = Whole(workspace, [index, *part.lower_around()], [found], part.failures)
    for path in whole.reported:
        yield finish_one(whole, workspace.source(path))


def workspace_of(sources: Iterable[Source], assumptions: AssumptionsOf, around: Around = ALONE) -> Workspace:
    by_path = {absolute(source.path): source for source in sources}
    shown = {path: source.path for path, source in by_path.items()}
    if around.surroundings is not None:
        shown = {path: shown.get(path, path) for path in sorted(around.surroundings.files)}
    merged = merged_assumptions(shown, assumptions)
    return Workspace(by_path, merged, around.beside, around.reported, around.surroundings)


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
