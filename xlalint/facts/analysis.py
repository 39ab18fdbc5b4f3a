"""Sources in, facts out: in one process or in several, with the same result."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from xlalint.facts.assumptions import Assumptions
from xlalint.facts.evaluation import Evaluated, Index, Part, absolute, merge, without_collector
from xlalint.facts.events import Facts
from xlalint.facts.heat import HeatMap
from xlalint.facts.placing import Placing
from xlalint.facts.reach import files_with_xla
from xlalint.facts.record import FunctionKey
from xlalint.sources.source import Source

SMALL = 400_000
"""Bytes of source below which a second process costs more than it brings."""


class Run(Protocol):
    """How to run: ``jobs`` processes, 0 for one each core."""

    @property
    def jobs(self) -> int: ...


def analyse(
    sources: Sequence[Source], assumptions: Callable[[str], Assumptions], options: Run
) -> Iterator[tuple[Source, Facts | str]]:
    """The facts of each source, or why there are none, in the order of ``sources``."""
    by_path = {absolute(source.path): source for source in sources}
    indexes, parts = evaluate(by_path, merged_assumptions(by_path, assumptions), options.jobs)
    failed: dict[str, str] = {}
    for index in indexes:
        failed.update(index.failed)
    functions = merge(parts)
    heat = HeatMap([one.facts for one in functions.values()])
    xla = files_with_xla(indexes, by_path)
    grouped: dict[str, list[Evaluated]] = {}
    for key, one in functions.items():
        grouped.setdefault(key[0], []).append(one)
    names = {path: source.path for path, source in by_path.items()}
    for source in sources:
        path = absolute(source.path)
        if path in failed and path not in grouped:
            yield source, failed[path]
            continue
        assumed = assumptions(source.path).assume_xla
        uses_xla = path in xla if assumed is None else assumed
        placing = Placing(source, heat, names, uses_xla, path in xla)
        yield source, Facts(source.path, placing.events(grouped.get(path, [])))


def merged_assumptions(by_path: dict[str, Source], assumptions: Callable[[str], Assumptions]) -> Assumptions:
    """The hints of all configurations together: names of loaders and steps may be used across folders."""
    hints = [assumptions(source.path) for source in by_path.values()]
    return Assumptions(
        None,
        frozenset().union(*(h.loaders for h in hints)),
        frozenset().union(*(h.step_functions for h in hints)),
        frozenset().union(*(h.boundaries for h in hints)),
        frozenset().union(*(h.host_functions for h in hints)),
    )


def evaluate(
    by_path: dict[str, Source], assumptions: Assumptions, jobs: int
) -> tuple[list[Index], list[list[Evaluated]]]:
    count = process_count(by_path, jobs)
    if count == 1:
        without_collector()
        part = Part(by_path, by_path, assumptions)
        index = part.lower()
        found = part.evaluate(index.called)
        return [Index(index.called, dict(part.failed), index.imports)], [found]
    from xlalint.facts.processes import evaluate_in_processes

    return evaluate_in_processes(by_path, shares(by_path, count), assumptions)


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


__all__ = ["FunctionKey", "analyse", "evaluate"]
