"""Workers side by side, each started where it is worth its start, which takes as long as a dozen verdicts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from queue import SimpleQueue
from threading import Event, Lock
from typing import TypeVar

from xlalint.device.worker.client import Worker, WorkerError
from xlalint.device.worker.guard import Guard
from xlalint.device.worker.protocol import Versions

_Item = TypeVar("_Item")
_Answer = TypeVar("_Answer")


class WorkerPool:
    """One worker is there from the beginning. Whenever as much time has gone by as its start took, and something still
    waits for its turn, another one is started, up to so many."""

    def __init__(self, guard: Guard, environment: Mapping[str, str], most: int) -> None:
        """Raises ``WorkerError``."""
        self._guard, self._environment, self._most = guard, environment, most
        began = time.monotonic()
        self._workers = [guard.worker(environment)]
        self._start_seconds = time.monotonic() - began
        self._idle: SimpleQueue[Worker] = SimpleQueue()
        self._idle.put(self._workers[0])
        self._waiting = 0
        self._counting = Lock()
        self._ended = Event()
        self._threads = ThreadPoolExecutor(most)
        # A worker behind a wall ends with the thread that has started it: this one lives as long as the pool.
        self._starter = ThreadPoolExecutor(1)

    @property
    def versions(self) -> Versions:
        """Those of all of them: they are alike."""
        return self._workers[0].versions

    def map(self, run: Callable[[_Item, Worker], _Answer], items: Sequence[_Item]) -> Iterable[_Answer]:
        """What ``run`` answers of each, in the order of ``items``. Once for a pool."""
        self._waiting = len(items)
        self._starter.submit(self._start_others)
        return self._threads.map(lambda item: self._run(run, item), items)

    def _run(self, run: Callable[[_Item, Worker], _Answer], item: _Item) -> _Answer:
        worker = self._idle.get()
        try:
            if self._ended.is_set():
                raise CancelledError
            with self._counting:
                self._waiting -= 1
            return run(item, worker)
        finally:
            self._idle.put(worker)

    def _start_others(self) -> None:
        while len(self._workers) < self._most and not self._ended.wait(self._start_seconds) and self._waiting:
            try:
                worker = self._guard.worker(self._environment, self._ended.is_set)
            except WorkerError:
                # No longer wanted, or more than the machine can hold: those that are there go on.
                return
            self._workers.append(worker)
            self._idle.put(worker)

    def __enter__(self) -> WorkerPool:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._ended.set()
        if error is not None:
            for worker in self._workers:
                worker.kill()
        self._threads.shutdown(cancel_futures=True)
        self._starter.shutdown()
        for worker in self._workers:
            worker.close()
