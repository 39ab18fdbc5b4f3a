"""What a run does in more steps than a shorter one takes, told apart within it: one run gives the figures of both.

Imports nothing heavy.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping


class Surplus:
    """Open while a loop is in its further turns. ``totals`` are those of the runtime so far; ``mark`` is told when it
    opens (True) and when it closes (False)."""

    def __init__(self, totals: Callable[[], Mapping[str, float]], mark: Callable[[bool], None] | None) -> None:
        self._totals, self._mark = totals, mark
        self._spent: Counter[str] = Counter()
        self._before: dict[str, float] | None = None

    @property
    def is_open(self) -> bool:
        return self._before is not None

    def open(self) -> None:
        self._before = self._now()
        self._tell(True)

    def close(self) -> None:
        if self._before is None:
            return
        for name, value in self._now().items():
            self._spent[name] += value - self._before.get(name, 0)  # type: ignore[assignment]
        self._before = None
        self._tell(False)

    def less(self, totals: Mapping[str, float]) -> dict[str, float]:
        """Totals of the whole run without what belongs to the surplus."""
        return {name: value - self._spent[name] for name, value in totals.items()}

    def _now(self) -> dict[str, float]:
        return {**self._totals(), "host_seconds": time.perf_counter()}

    def _tell(self, opened: bool) -> None:
        if self._mark is not None:
            self._mark(opened)
