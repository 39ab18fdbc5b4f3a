"""The analysis in several processes: each lowers its share, all share their indexes, each evaluates its share."""

from __future__ import annotations

import multiprocessing
import pickle
from multiprocessing.connection import Connection
from typing import Any

from xlalint.facts.assumptions import Assumptions
from xlalint.facts.evaluation import Evaluated, Index, Part, without_collector
from xlalint.sources.source import Source


class WorkerDied(Exception):
    """A process of the analysis ended without an answer."""


def evaluate_in_processes(
    sources: dict[str, Source], shares: list[list[str]], assumptions: Assumptions
) -> tuple[list[Index], list[list[Evaluated]]]:
    """The first share is this process's own."""
    methods = multiprocessing.get_all_start_methods()
    context: Any = multiprocessing.get_context("fork" if "fork" in methods else "spawn")
    workers = []
    for share in shares[1:]:
        mine, theirs = context.Pipe()
        process = context.Process(target=work, args=(theirs, sources, share, assumptions), daemon=True)
        process.start()
        theirs.close()
        workers.append((process, mine))
    without_collector()
    part = Part(sources, shares[0], assumptions)
    indexes = [part.lower(), *(receive(connection) for _, connection in workers)]
    called: frozenset[str] = frozenset().union(*(index.called for index in indexes))
    for _, connection in workers:
        connection.send(called)
    found = [part.evaluate(called)]
    failed = [dict(part.failed)]
    for process, connection in workers:
        evaluated, reasons = pickle.loads(receive(connection))
        found.append(evaluated)
        failed.append(reasons)
        process.join()
    return [Index(i.called, reasons, i.imports) for i, reasons in zip(indexes, failed)], found


def receive(connection: Connection) -> Any:
    try:
        return connection.recv()
    except EOFError:
        raise WorkerDied("a process of the analysis died") from None


def work(connection: Connection, sources: dict[str, Source], share: list[str], assumptions: Assumptions) -> None:
    without_collector()
    part = Part(sources, share, assumptions)
    connection.send(part.lower())
    found = part.evaluate(connection.recv())
    connection.send(pickle.dumps((found, dict(part.failed)), protocol=5))
    connection.close()
