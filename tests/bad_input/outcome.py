"""What the command answered to bad input."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Outcome(NamedTuple):
    code: int
    out: str
    err: str

    def only_complaint(self) -> str:
        """The one line on standard error."""
        (line,) = self.err.splitlines()
        return line


Xlalint = Callable[..., Outcome]
