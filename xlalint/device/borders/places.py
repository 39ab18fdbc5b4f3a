"""The flagged places of a script, each with what it counts and what it keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from xlalint.device.borders.clock import Clock
from xlalint.device.borders.placement import Placement
from xlalint.device.stubs import progress
from xlalint.device.stubs.objects import Absent

torch: Any = import_module("torch")


class WatchedPlace:
    """What the code at one flagged place calls: the names of ``xlalint.slicing.instrumentation``."""

    def __init__(self, clock: Clock, placement: Placement) -> None:
        self._clock, self._placement = clock, placement
        self._steps: set[int] = set()
        self._steps_in_half: set[int] = set()
        self._answers: dict[object, Any] = {}
        self._turn: tuple[int, int] = (0, 0)
        self.count = self.count_in_half = 0
        self.raised: str | None = None

    @property
    def steps(self) -> int:
        """In how many different steps it ran."""
        return len(self._steps)

    @property
    def steps_in_half(self) -> int:
        return len(self._steps_in_half)

    def ran(self, value: Any = None) -> Any:
        if isinstance(value, Absent):
            raise progress.NoValue(f"{value!r} can't be had, and nothing is computed at the flagged place")
        self._count()
        progress.state.kept.append(value)
        return value

    def tried(self, make: Callable[[], Any]) -> Any:
        """The first time, as it is on the device; what raises there goes on where it would have been placed."""
        self._count()
        if self.count == 1:
            self.raised = ""
            try:
                with self._placement.lifted():
                    value = _entered(make())
                # What could not be had raises nothing, whatever it is; what is compiled raises when it is called.
                self.raised = None if isinstance(value, Absent) or _is_compiled(value) else ""
                return value
            except Exception as error:  # the flagged place may raise anything
                self.raised = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
        with self._placement.in_force():
            return make()

    def replay(self, make: Callable[[], Any]) -> Any:
        """The first step's value, in each place where a step may be."""
        at = self._occurrence()
        if at not in self._answers:
            made = make()
            self._answers[at] = progress.held(made)
            return made
        return self._answers[at]

    def first(self) -> bool:
        at = self._occurrence()
        fresh = at not in self._answers
        self._answers[at] = True
        return fresh

    def used(self, value: Any) -> Any:
        return progress.used(value)

    def learned(self, value: Any) -> Any:
        return progress.learned(value)

    def without_graph(self, value: Any) -> Any:
        self._count()
        return progress.without_graph(value)

    def loaded_ahead(self, batches: Iterable[Any]) -> Iterable[Any]:
        return progress.loaded_ahead(batches)

    def _count(self) -> None:
        self.count += 1
        self._steps.add(self._clock.steps)
        if self._clock.is_in_half:
            self.count_in_half += 1
            self._steps_in_half.add(self._clock.steps)

    def _occurrence(self) -> object:
        """What began the step, and the how-manieth time in it the place is met."""
        self._count()
        step, number = self._turn
        self._turn = (self._clock.steps, number + 1 if step == self._clock.steps else 0)
        return self._clock.key, self._turn[1]


def _is_compiled(value: Any) -> bool:
    return type(value).__module__.startswith("torch._dynamo") or hasattr(value, "_torchdynamo_orig_callable")


def _entered(made: Any) -> Any:
    """A device of a `with` asks for a GPU when it is entered."""
    if isinstance(made, torch.cuda.device):
        with made:
            return made
    return made
