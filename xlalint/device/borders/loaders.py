"""Loaders at a script's border: in this process, with few rows, each batch of theirs a step. Imports torch."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from xlalint.device.borders.clock import Clock, Enough
from xlalint.device.borders.turns import Loops

_data: Any = import_module("torch.utils.data")
_parallel: Any = import_module("torch_xla.distributed.parallel_loader")
_HERE: dict[str, Any] = {
    "num_workers": 0,
    "prefetch_factor": None,
    "persistent_workers": False,
    "pin_memory": False,
    "multiprocessing_context": None,
    "timeout": 0,
    "worker_init_fn": None,
}
"""What asks for other processes, or for a GPU."""
_PASSES = 2
"""How often a loop of a library may go through a loader."""


def watch_loaders(clock: Clock, loops: Loops, batch: int, owned: Callable[[str], bool]) -> None:
    """``batch`` is the most rows of a batch, 0 for no bound; ``owned`` tells the program's own files."""
    kind = _data.DataLoader
    make, iterate = kind.__init__, kind.__iter__
    signature = inspect.signature(make)

    @functools.wraps(make)
    def made(self: Any, *args: Any, **kwargs: Any) -> None:
        given = signature.bind(self, *args, **kwargs).arguments
        given.update({name: value for name, value in _HERE.items() if name in given})
        rows = given.get("batch_size")
        if batch and isinstance(rows, int) and rows > batch:
            given["batch_size"] = batch
            clock.assume(f"batches have {batch} rows, where the program asks for {rows}")
        make(**given)

    def iterated(self: Any) -> Iterator[Any]:
        return _Draws(self, iterate(self), clock, loops, owned)

    kind.__init__, kind.__iter__ = made, iterated
    # Its threads draw ahead, and who asks it takes the steps.
    parallel = _parallel.ParallelLoader
    of_device = parallel.per_device_loader

    def per_device_loader(self: Any, device: Any) -> Iterator[Any]:
        found = of_device(self, device)
        return _Draws(found, found, clock, loops, owned)

    parallel.per_device_loader = per_device_loader


class _Draws:
    """A pass through a loader. Who iterates in a loop of the program's own is stopped by that loop, and a library's
    loop here."""

    def __init__(
        self, loader: Any, given: Iterator[Any], clock: Clock, loops: Loops, owned: Callable[[str], bool]
    ) -> None:
        self._given, self._clock, self._loops, self._owned = given, clock, loops, owned
        self._loader = loader
        self._key = ("loader", id(loader))
        self._count = 0
        self._opened = False
        if not loops.is_elsewhere and not self._is_the_programs(sys._getframe(2)):
            passes = loader.__dict__.get("_xlalint_passes", 0) + 1
            loader.__dict__["_xlalint_passes"] = passes
            if passes > _PASSES:
                raise Enough(f"a library begins pass {passes} through a loader")

    def __iter__(self) -> _Draws:
        return self

    def __len__(self) -> int:
        return len(self._loader)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._given, name)

    def __next__(self) -> Any:
        if self._loops.is_elsewhere:
            return next(self._given)
        if not self._is_the_programs(sys._getframe(1)):
            if self._count >= self._loops.most:
                self._clock.end_step()
                self._close()
                raise StopIteration
            self._opened = self._loops.opens_surplus(self._key, self._count) or self._opened
        self._clock.begin_step(self._key)
        batch = next(self._given)
        self._count += 1
        self._clock.draws += 1
        return batch

    next = __next__
    """As it was called in Python 2's years."""

    def __del__(self) -> None:
        self._close()

    def _close(self) -> None:
        if self._opened:
            self._opened = False
            self._loops.close_surplus()

    def _is_the_programs(self, frame: Any) -> bool:
        """Whether a loop of the program's asks, or a line of its own."""
        return self._loops.drawing > 0 or self._owned(frame.f_code.co_filename)
