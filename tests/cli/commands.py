"""What a run of the command line gave."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple


class Outcome(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def errors(self) -> list[str]:
        return self.err.splitlines()


Xlalint = Callable[..., Outcome]
