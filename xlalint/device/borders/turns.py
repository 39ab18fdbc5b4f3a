"""The loops of a script: those that take steps run for as many turns as are asked for, and the rest as they are.

A loop takes steps where a loader gives it its items, where an optimizer updates in its turns, or where the linter
says so. What lies around such a loop, as epochs do, runs once, unless it goes through a short list.
"""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from types import FrameType
from typing import Any

from xlalint.device.borders.clock import Clock, Enough
from xlalint.device.borders.plan import CUT_OFF, LoopPlace, Plan

torch: Any = import_module("torch")
_OTHERS = 2
"""Turns of loops that take steps, where another one is counted."""
_AROUND = 1
_FEW = 4
"""Items of a list, such as the names of an epoch's phases."""


@dataclass
class _Turn:
    site: LoopPlace
    updates: int
    draws: int
    holds_steps: bool = False


@dataclass
class Loops:
    """All loops of the program's own files."""

    plan: Plan
    steps: int
    clock: Clock
    drawing: int = 0
    """How many loops are just asking for their next item."""
    counted: int = 0
    """Turns of the loop whose turns are counted."""
    counted_in_half: int = 0
    _taking_steps: set[LoopPlace] = field(default_factory=set)
    _drawn: set[LoopPlace] = field(default_factory=set)
    _evaluating: set[LoopPlace] = field(default_factory=set)
    """Loops whose turns ask a loader themselves, where no gradients are wanted."""
    _around: set[LoopPlace] = field(default_factory=set)
    _open: list[_Turn] = field(default_factory=list)
    _thread: int = field(default_factory=threading.get_ident)

    def __post_init__(self) -> None:
        self._taking_steps.update(self.plan.step_loops)

    def of_file(self, path: str) -> LoopsOfFile:
        return LoopsOfFile(path, self)

    @property
    def most(self) -> int:
        """Turns of a loop that takes steps and is not the one that is counted."""
        return self.steps if self.plan.loop is None else _OTHERS

    @property
    def is_elsewhere(self) -> bool:
        """Whether a thread of the program's or of a library asks, as one does that draws ahead: it takes no steps."""
        return threading.get_ident() != self._thread

    @contextmanager
    def asking(self) -> Iterator[None]:
        """While a loop asks for its next item."""
        self.drawing += 1
        try:
            yield
        finally:
            self.drawing -= 1

    def is_enough(self, site: LoopPlace, count: int, names_few: bool = False) -> bool:
        """``names_few``: the program names each of the turns, and may ask later for what each has left."""
        if self.is_elsewhere:
            return False
        if site == self.plan.loop:
            return count >= self.steps
        if site in self._taking_steps or site in self._evaluating:
            return count >= self.most
        return site in self._around and count >= _AROUND and not names_few

    def is_passed_over(self, site: LoopPlace, frame: FrameType) -> bool:
        """Whether a loop of a generator only hands on what it iterates over: who asks it takes the steps."""
        named = site == self.plan.loop or site in self.plan.step_loops
        return not named and bool(frame.f_code.co_flags & inspect.CO_GENERATOR)

    def opens_surplus(self, site: object, count: int) -> bool:
        """Whether what follows is more than a run of half the steps would do, and was not before."""
        surplus = self.clock.surplus
        if surplus is None or surplus.is_open or count != self.steps // 2 or not self._grows(site):
            return False
        if self.is_elsewhere:
            return False
        self.clock.end_step()
        surplus.open()
        return True

    def close_surplus(self) -> None:
        if self.clock.surplus is not None:
            self.clock.end_step()
            self.clock.surplus.close()

    def _grows(self, site: object) -> bool:
        """Whether it takes more turns the more steps are asked for; a loop of a library takes steps."""
        if self.plan.loop is not None:
            return site == self.plan.loop
        return not isinstance(site, LoopPlace) or site in self._taking_steps

    def cut_off(self, site: LoopPlace) -> None:
        """A loop has had its turns. Raises ``Enough`` where nothing more is wanted."""
        self.clock.end_step()
        if self.plan.ends and site == self.plan.loop:
            self.clock.hold_what_lives()
            raise Enough(CUT_OFF)

    def begin(self, site: LoopPlace, drawn: bool) -> _Turn:
        if drawn:
            self._taking_steps.add(site)
            self._drawn.add(site)
        elif site == self.plan.loop or site in self._taking_steps:
            # A loader that was asked has begun the step.
            self.clock.begin_step(site)
        if site == self.plan.loop:
            self.counted += 1
            self.counted_in_half += self.clock.is_in_half
        turn = _Turn(site, self.clock.updates, self.clock.draws)
        self._open.append(turn)
        return turn

    def end(self, turn: _Turn) -> None:
        while self._open and self._open.pop() is not turn:
            pass
        if turn.holds_steps:
            if turn.site not in self._drawn:
                self._around.add(turn.site)
                self._taking_steps.discard(turn.site)
        elif self.clock.updates > turn.updates:
            self._taking_steps.add(turn.site)
        elif self.clock.draws > turn.draws and not torch.is_grad_enabled():
            self._evaluating.add(turn.site)
            for each in self._open:
                # It has not asked itself.
                each.draws = self.clock.draws
        if turn.holds_steps or turn.site in self._taking_steps or turn.site == self.plan.loop:
            for each in self._open:
                each.holds_steps = True


def _one_by_one(given: Iterator[Any], loops: Loops) -> Iterator[Any]:
    """As a loop of the program's asks."""
    while True:
        try:
            with loops.asking():
                item = next(given)
        except StopIteration:
            return
        yield item


@dataclass
class LoopsOfFile:
    """What the loops of one file call."""

    path: str
    loops: Loops
    _whiles: dict[int, _While] = field(default_factory=dict)

    def turns(self, items: Iterable[Any], line: int) -> Iterable[Any]:
        """The items of a `for`, up to the last one that is wanted. What dynamo traces stays as it is."""
        if torch.compiler.is_compiling():
            return items
        site = LoopPlace(self.path, line)
        return self._watched(items, site, self.loops.is_passed_over(site, sys._getframe(1)))

    def _watched(self, items: Iterable[Any], site: LoopPlace, passed_over: bool) -> Iterator[Any]:
        loops = self.loops
        with loops.asking():
            given = iter(items)
        if passed_over:
            yield from _one_by_one(given, loops)
            return
        count, opened = 0, False
        names_few = isinstance(items, (list, tuple)) and len(items) <= _FEW
        try:
            while not loops.is_enough(site, count, names_few):
                opened = loops.opens_surplus(site, count) or opened
                drawn = loops.clock.draws
                try:
                    with loops.asking():
                        item = next(given)
                except StopIteration:
                    return
                turn = loops.begin(site, loops.clock.draws > drawn)
                try:
                    yield item
                finally:
                    loops.end(turn)
                count += 1
            loops.cut_off(site)
        finally:
            if opened:
                loops.close_surplus()

    def enter(self, line: int) -> None:
        """Before a `while`."""
        if not torch.compiler.is_compiling():
            self._whiles[line] = _While()

    def turn(self, line: int) -> bool:
        """Whether a `while` may ask for another turn."""
        if torch.compiler.is_compiling():
            return True
        loops, site = self.loops, LoopPlace(self.path, line)
        if loops.is_passed_over(site, sys._getframe(1)):
            return True
        own = self._whiles.setdefault(line, _While())
        if own.turn is not None:
            loops.end(own.turn)
            own.turn = None
            own.count += 1
        if loops.is_enough(site, own.count):
            loops.cut_off(site)
            return False
        own.opened = loops.opens_surplus(site, own.count) or own.opened
        own.turn = loops.begin(site, drawn=False)
        return True

    def leave(self, line: int) -> None:
        """Behind a `while`, however it ended."""
        if torch.compiler.is_compiling():
            return
        own = self._whiles.pop(line, None)
        if own is None:
            return
        if own.turn is not None:
            self.loops.end(own.turn)
        if own.opened:
            self.loops.close_surplus()


@dataclass
class _While:
    count: int = 0
    turn: _Turn | None = None
    opened: bool = False
    """Whether its turns are more than a run of half the steps would take."""
