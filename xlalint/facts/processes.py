"""The analysis in several processes. Each lowers its share; all share their indexes and what others will ask for; each
evaluates its share and then what waits in others; all share what they found; each finishes its share. Forked, so that
sources and configuration need not be sent."""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from xlalint.facts.assumptions import Assumptions
from xlalint.facts.evaluation import Evaluated, Index, Part, without_collector
from xlalint.facts.lending import wanted
from xlalint.facts.waiting import Waiting, taken_by
from xlalint.sources.source import Source

if TYPE_CHECKING:
    from xlalint.facts.analysis import Whole

T = TypeVar("T")
FinishOne = Callable[["Whole", Source], T]


class WorkerDied(Exception):
    """A process of the analysis ended without an answer."""


class Found(msgspec.Struct, frozen=True, array_like=True):
    """What one process found in its share."""

    functions: list[Evaluated]
    failed: dict[str, str]


ENCODER = msgspec.msgpack.Encoder()
DECODER = msgspec.msgpack.Decoder(Found)


def can_fork() -> bool:
    return "fork" in multiprocessing.get_all_start_methods()


class Team:
    """This process and those that it forks, one for each share but the first."""

    def __init__(self, sources: dict[str, Source], shares: list[list[str]], assumptions: Assumptions) -> None:
        self.sources = sources
        self.shares = shares
        self.assumptions = assumptions
        self.waiting = [Waiting(sorted(share)) for share in shares]

    def run(self, finish: FinishOne[T]) -> dict[str, T]:
        """The finished result of every file, by path. Raises ``WorkerDied``."""
        context: Any = multiprocessing.get_context("fork")
        workers: list[tuple[Any, Connection]] = []
        for _ in self.shares[1:]:
            mine, theirs = context.Pipe()
            process = context.Process(target=self.work, args=(theirs, len(workers) + 1, finish), daemon=True)
            process.start()
            theirs.close()
            workers.append((process, mine))
        try:
            finished = self.lead(workers, finish)
        finally:
            for share in self.waiting:
                share.close()
        for process, _ in workers:
            process.join()
        return finished

    def lead(self, workers: list[tuple[Any, Connection]], finish: FinishOne[T]) -> dict[str, T]:
        without_collector()
        part = Part(self.sources, self.shares[0], self.assumptions)
        indexes = [part.lower(), *(receive(connection) for _, connection in workers)]
        called = self.hand_out(part, indexes, workers)
        own = Found(part.evaluate(called, taken_by(0, self.waiting)), dict(part.failed))
        packed = [ENCODER.encode(own), *(receive_bytes(connection) for _, connection in workers)]
        for number, (_, connection) in enumerate(workers, 1):
            connection.send(indexes)
            for other, data in enumerate(packed):
                if other != number:
                    connection.send_bytes(data)
        found = [own, *(DECODER.decode(data) for data in packed[1:])]
        finished = self.finish(0, indexes, found, finish)
        for _, connection in workers:
            finished.update(pickle.loads(receive_bytes(connection)))
        return finished

    def hand_out(self, part: Part, indexes: list[Index], workers: list[tuple[Any, Connection]]) -> frozenset[str]:
        """Give every process the lowered files that it will ask for; gives the names of all that is called."""
        called: frozenset[str] = frozenset().union(*(index.called for index in indexes))
        needs = wanted({path: names for index in indexes for path, names in index.imports.items()}, self.shares)
        asked = frozenset().union(*needs)
        for _, connection in workers:
            connection.send((called, asked))
        lent = part.lend(asked)
        for _, connection in workers:
            lent.update(receive(connection))
        for number, (_, connection) in enumerate(workers, 1):
            connection.send({path: data for path, data in lent.items() if path in needs[number]})
        part.borrowed = {path: data for path, data in lent.items() if path in needs[0]}
        return called

    def work(self, connection: Connection, number: int, finish: FinishOne[T]) -> None:
        without_collector()
        part = Part(self.sources, self.shares[number], self.assumptions)
        connection.send(part.lower())
        called, asked = connection.recv()
        connection.send(part.lend(asked))
        part.borrowed = connection.recv()
        own = Found(part.evaluate(called, taken_by(number, self.waiting)), dict(part.failed))
        connection.send_bytes(ENCODER.encode(own))
        indexes = connection.recv()
        others = [DECODER.decode(connection.recv_bytes()) for _ in range(len(self.shares) - 1)]
        finished = self.finish(number, indexes, [own, *others], finish)
        connection.send_bytes(pickle.dumps(finished, protocol=5))
        connection.close()

    def finish(self, number: int, indexes: list[Index], found: list[Found], finish: FinishOne[T]) -> dict[str, T]:
        from xlalint.facts.analysis import Whole

        failed = {path: reason for one in found for path, reason in one.failed.items()}
        everything = [*indexes, Index(frozenset(), failed, {})]
        whole = Whole(self.sources, everything, [one.functions for one in found])
        return {path: finish(whole, self.sources[path]) for path in self.to_finish(whole, number)}

    def to_finish(self, whole: Whole, number: int) -> list[str]:
        """This process's share of the files by what was found in them: that is what is left to place and to judge.
        Every process works out the same shares."""
        weights = {path: 1 + sum(len(one.events) for one in whole.functions.get(path, ())) for path in self.sources}
        total, passed, count = sum(weights.values()), 0, len(self.shares)
        mine = []
        for path in sorted(weights):
            if passed * count // total == number:
                mine.append(path)
            passed += weights[path]
        return mine


def receive(connection: Connection) -> Any:
    try:
        return connection.recv()
    except EOFError:
        raise WorkerDied("a process of the analysis died") from None


def receive_bytes(connection: Connection) -> bytes:
    try:
        return connection.recv_bytes()
    except EOFError:
        raise WorkerDied("a process of the analysis died") from None
