"""The analysis in several processes. Each lowers its share; all share their indexes and what others will ask for; each
evaluates its share and then what waits in others; all share what they found; each finishes its share. Forked, so that
sources and configuration need not be sent.

A process that dies costs the file that it was at: that is left out, and told, and the others start over.
"""

from __future__ import annotations

import mmap
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any, NoReturn, TypeVar

import msgspec

from xlalint.facts.driver.called_names import CalledByRoot, called_in
from xlalint.facts.driver.counters import Count, Counters, Follow, size_of
from xlalint.facts.driver.file_index import Evaluated, Index
from xlalint.facts.driver.ir_exchange import wanted
from xlalint.facts.driver.partition import Partition, without_collector
from xlalint.facts.driver.program_facts import ProgramFacts
from xlalint.facts.driver.work_queue import WorkQueue, taken_by
from xlalint.facts.driver.workspace import Workspace
from xlalint.facts.failures import Failure, reason_of
from xlalint.sources import observed
from xlalint.sources.source import Source

T = TypeVar("T")
FinishOne = Callable[[ProgramFacts, Source], T]
MOST_DEATHS = 8
"""Files that may kill a process before the run gives up."""
LOOK_EACH = 0.5
"""Seconds between two looks at whether the leading process is still there."""


class WorkerDied(Exception):
    """A process of the analysis ended without an answer. ``path`` is the file that it was at; empty where none is
    known."""

    def __init__(self, reason: str, path: str = "") -> None:
        super().__init__(reason)
        self.path = path


class Found(msgspec.Struct, frozen=True, array_like=True):
    """What one process found in its share."""

    functions: list[Evaluated]
    failures: list[Failure]


class Broken(msgspec.Struct, frozen=True):
    """What a process sends in place of an answer when it fails as a whole."""

    reason: str


class Worker(msgspec.Struct, frozen=True):
    number: int
    process: Any
    connection: Connection


ENCODER = msgspec.msgpack.Encoder()
DECODER = msgspec.msgpack.Decoder(Found)


def can_fork() -> bool:
    return "fork" in multiprocessing.get_all_start_methods()


class WorkerPool:
    """This process and those that it forks, one for each share but the first."""

    def __init__(self, workspace: Workspace, shares: list[list[str]], follow: Follow) -> None:
        self.workspace = workspace
        self.follow = follow
        self.sources = workspace.sources
        self.shares = shares
        self.deaths: dict[str, Failure] = {}

    def run(self, finish: FinishOne[T]) -> list[T]:
        """The finished result of every file. Raises ``WorkerDied`` where files can't be blamed for it."""
        while True:
            try:
                finished = self.attempt(finish)
                own = [path for path in self.sources if path in finished]
                return [finished[path] for path in (*own, *sorted(finished.keys() - self.sources.keys()))]
            except WorkerDied as death:
                if not death.path or death.path in self.deaths or len(self.deaths) >= MOST_DEATHS:
                    raise
                self.deaths[death.path] = Failure(death.path, 0, "", str(death), True)

    def attempt(self, finish: FinishOne[T]) -> dict[str, T]:
        self.waiting = [WorkQueue(sorted(share)) for share in self.shares]
        memory = mmap.mmap(-1, size_of(len(self.shares)))
        self.counters = Counters([*self.sources], memoryview(memory))
        self.follow(self.counters.counted)
        workers: list[Worker] = []
        try:
            for number in range(1, len(self.shares)):
                workers.append(self.start(number, finish))
            finished = self.lead(workers, finish)
            for worker in workers:
                worker.process.join()
            return finished
        finally:
            for worker in workers:
                worker.process.kill()
                worker.connection.close()
            for share in self.waiting:
                share.close()

    def start(self, number: int, finish: FinishOne[T]) -> Worker:
        context: Any = multiprocessing.get_context("fork")
        mine, theirs = context.Pipe()
        process = context.Process(target=self.serve, args=(theirs, number, finish, os.getpid()), daemon=True)
        with interrupts_held_back():
            process.start()
        theirs.close()
        return Worker(number, process, mine)

    def part(self, number: int) -> Partition:
        part = Partition(self.workspace, self.shares[number], frozenset(self.deaths))
        part.counter = self.counters.of(number)
        return part

    # The leading process

    def lead(self, workers: list[Worker], finish: FinishOne[T]) -> dict[str, T]:
        without_collector()
        part = self.part(0)
        indexes = [part.lower(), *(self.receive(worker) for worker in workers)]
        called = self.hand_out(part, indexes, workers)
        own, sent = packed(part, part.evaluate(called, taken_by(0, self.waiting)))
        parts: list[bytes] = [sent, *(self.receive(worker) for worker in workers)]
        indexes += part.lower_around()
        for worker in workers:
            self.send(worker, (indexes, [data for other, data in enumerate(parts) if other != worker.number]))
        found = [own, *(DECODER.decode(data) for data in parts[1:])]
        finished = self.finish(0, indexes, found, finish)
        for worker in workers:
            mine, seen = self.receive(worker)
            finished.update(mine)
            observed.add(seen)
        return finished

    def hand_out(self, part: Partition, indexes: list[Index], workers: list[Worker]) -> CalledByRoot:
        """Give every process the lowered files that it will ask for; gives the names of all that is called."""
        called = called_in(indexes)
        needs = wanted({path: names for index in indexes for path, names in index.imports.items()}, self.shares)
        asked = frozenset().union(*needs)
        for worker in workers:
            self.send(worker, (called, asked))
        lent = part.lend(asked)
        for worker in workers:
            lent.update(self.receive(worker))
        for worker in workers:
            self.send(worker, {path: data for path, data in lent.items() if path in needs[worker.number]})
        part.borrowed = {path: data for path, data in lent.items() if path in needs[0]}
        return called

    def send(self, worker: Worker, message: object) -> None:
        try:
            worker.connection.send(message)
        except OSError:
            raise self.death_of(worker) from None

    def receive(self, worker: Worker) -> Any:
        """The next message of a worker. Raises ``WorkerDied``."""
        try:
            message = worker.connection.recv()
        except (EOFError, OSError):
            raise self.death_of(worker) from None
        if isinstance(message, Broken):
            raise WorkerDied(message.reason)
        return message

    def death_of(self, worker: Worker) -> WorkerDied:
        worker.process.join()
        code = worker.process.exitcode or 0
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        return WorkerDied(f"the process that analysed it died {how}", self.counters.at(worker.number))

    # The others

    def serve(self, connection: Connection, number: int, finish: FinishOne[T], leader: int) -> None:
        """The whole life of a process. Ctrl-C is for the leading one, which ends the others."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        threading.Thread(target=end_with, args=(leader,), daemon=True).start()
        try:
            self.work(connection, number, finish)
        except (EOFError, BrokenPipeError):
            pass  # nobody waits for the answer any more
        except Exception as error:
            connection.send(Broken(reason_of(error)))
        connection.close()
        sys.stdout.flush()
        os._exit(0)

    def work(self, connection: Connection, number: int, finish: FinishOne[T]) -> None:
        without_collector()
        observed.begin_anew()
        part = self.part(number)
        connection.send(part.lower())
        called, asked = connection.recv()
        connection.send(part.lend(asked))
        part.borrowed = connection.recv()
        own, sent = packed(part, part.evaluate(called, taken_by(number, self.waiting)))
        connection.send(sent)
        indexes, others = connection.recv()
        found = [own, *(DECODER.decode(data) for data in others)]
        connection.send((self.finish(number, indexes, found, finish), observed.noted()))

    # All

    def finish(self, number: int, indexes: list[Index], found: list[Found], finish: FinishOne[T]) -> dict[str, T]:
        failures = [*self.deaths.values(), *(failure for one in found for failure in one.failures)]
        whole = ProgramFacts(self.workspace, indexes, [one.functions for one in found], failures)
        counter = self.counters.of(number)
        finished: dict[str, T] = {}
        for path in self.to_finish(whole, number):
            counter.begin(path)
            finished[path] = finish(whole, self.workspace.source(path))
            counter.add(Count.FINISHED)
        return finished

    def to_finish(self, whole: ProgramFacts, number: int) -> list[str]:
        """This process's share of the files by what was found in them: that is what is left to place and to judge.
        Every process works out the same shares."""
        weights = {path: 1 + sum(len(one.events) for one in whole.functions.get(path, ())) for path in whole.reported}
        total, passed, count = sum(weights.values()), 0, len(self.shares)
        mine = []
        for path in sorted(weights):
            if passed * count // total == number:
                mine.append(path)
            passed += weights[path]
        return mine


def packed(part: Partition, functions: list[Evaluated]) -> tuple[Found, bytes]:
    """What a process found, and the same as it is sent. What can't be sent is a bug of ours: it costs its function."""
    found = Found(functions, [*part.failures])
    try:
        return found, ENCODER.encode(found)
    except Exception:
        kept = [one for one in functions if can_be_sent(part, one)]
        found = Found(kept, [*part.failures])
        return found, ENCODER.encode(found)


def can_be_sent(part: Partition, one: Evaluated) -> bool:
    try:
        ENCODER.encode(one)
    except Exception as error:
        part.fail_in(one.facts.key, error)
        return False
    return True


@contextmanager
def interrupts_held_back() -> Iterator[None]:
    """Ctrl-C waits until a new process has made up its mind about it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_with(leader: int) -> NoReturn:
    """End this process when the leading one is gone, however it went."""
    while os.getppid() == leader:
        time.sleep(LOOK_EACH)
    os._exit(1)
