"""A finding with all that its run needs, and how it is run."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping

import msgspec

from xlalint.findings.model import Diagnostic, Mode, Rule


class Case(msgspec.Struct, frozen=True):
    """A finding with all that its run needs."""

    diagnostic: Diagnostic
    rule: Rule
    claims: Mapping[str, bool]
    """The metrics in which the rule's page says that the cost shows, with whether it does in each step."""
    raises: frozenset[str]

    @property
    def metric(self) -> str:
        """The first that is claimed."""
        return next(iter(self.claims), "")


class Settings(msgspec.Struct, frozen=True):
    steps: int = 6
    seconds: float = 30.0
    modes: tuple[Mode, ...] = (Mode.LAZY,)
    given: dict[str, str] = {}
    """What the user says of arguments of scripts, and of names that a slice lacks: Python, by name."""
    budget: float = math.inf
    """Seconds."""
    until: float = math.inf
    """The end of the budget, by the monotonic clock: then no finding is begun, and no further command line tried."""

    @property
    def is_spent(self) -> bool:
        return time.monotonic() > self.until
