"""How much the analysis of one file may cost, in statements and in processor time."""

from __future__ import annotations

import time

MOST_STATEMENTS = 400_000
"""Evaluated as often as it takes: some five seconds. Of torch, torchvision, torchmetrics and transformers the largest
file costs a twentieth of it."""
MOST_SECONDS = 20.0
"""Of processor time, for what statements alone don't tell, whatever else the machine does: the largest of those files
takes half a second."""
BETWEEN_LOOKS = 64
"""Statements between two looks at the clock."""


class WorkBound:
    """The work for one file. Once it is met it stays so."""

    __slots__ = ("_deadline", "_is_met", "_next_look", "statements")

    def __init__(self) -> None:
        self.statements = 0
        self._deadline = time.thread_time() + MOST_SECONDS
        self._next_look = 0
        self._is_met = False

    @property
    def is_met(self) -> bool:
        if self.statements >= self._next_look:
            self._next_look = self.statements + BETWEEN_LOOKS
            self._is_met = self._is_met or self.statements > MOST_STATEMENTS or time.thread_time() > self._deadline
        return self._is_met
