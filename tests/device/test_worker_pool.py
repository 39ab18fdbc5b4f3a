"""Workers of a pool: another one is started only where something waits for longer than a start takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from threading import Lock
from typing import cast

import pytest

from xlalint.device.worker.client import Worker, WorkerError
from xlalint.device.worker.guard import Guard
from xlalint.device.worker.pool import WorkerPool

START = 0.2


class Started:
    """In place of a worker."""

    def __init__(self) -> None:
        self.closed = False

    def kill(self) -> None:
        self.closed = True

    close = kill


class Starts:
    """In place of a guard."""

    def __init__(self, seconds: float = START, most: int = 9) -> None:
        self.seconds, self.most = seconds, most
        self.workers: list[Started] = []
        self.given_up = False

    def worker(self, env: Mapping[str, str] | None = None, given_up: Callable[[], bool] = lambda: False) -> Started:
        end = time.monotonic() + (self.seconds if not self.workers else START)
        while time.monotonic() < end:
            if given_up():
                self.given_up = True
                raise WorkerError("given up")
            time.sleep(0.01)
        if len(self.workers) == self.most:
            raise WorkerError("no room")
        self.workers.append(Started())
        return self.workers[-1]


def pool_of(starts: Starts, most: int = 2) -> WorkerPool:
    return WorkerPool(cast(Guard, starts), {}, most)


def used(pool: WorkerPool, seconds: float, count: int) -> tuple[list[int], int]:
    """The answers in their order, and how many workers gave them."""
    workers: set[int] = set()
    lock = Lock()

    def run(item: int, worker: Worker) -> int:
        time.sleep(seconds)
        with lock:
            workers.add(id(worker))
        return item

    return list(pool.map(run, range(count))), len(workers)


def test_what_is_done_within_a_start_has_one_worker() -> None:
    starts = Starts()
    with pool_of(starts) as pool:
        assert used(pool, 0.01, 6) == ([*range(6)], 1)
    assert len(starts.workers) == 1
    assert all(worker.closed for worker in starts.workers)


def test_what_takes_longer_gets_another_one() -> None:
    starts = Starts()
    with pool_of(starts) as pool:
        assert used(pool, 0.15, 8) == ([*range(8)], 2)
    assert len(starts.workers) == 2
    assert all(worker.closed for worker in starts.workers)


def test_nothing_waits_for_a_worker_that_nobody_needs() -> None:
    starts = Starts(seconds=0.05)
    with pool_of(starts) as pool:
        used(pool, 0.07, 2)
        assert len(starts.workers) == 1
    assert len(starts.workers) == 1


def test_where_there_is_no_room_the_first_goes_on_alone() -> None:
    starts = Starts(most=1)
    with pool_of(starts) as pool:
        assert used(pool, 0.15, 4) == ([*range(4)], 1)


def test_what_cannot_start_at_all_says_so() -> None:
    with pytest.raises(WorkerError, match="no room"):
        pool_of(Starts(most=0))


def test_an_error_ends_what_waits() -> None:
    starts = Starts()

    def run(item: int, _: Worker) -> int:
        raise ValueError(item)

    with pytest.raises(ValueError, match="0"), pool_of(starts) as pool:
        list(pool.map(run, range(5)))
    assert all(worker.closed for worker in starts.workers)
