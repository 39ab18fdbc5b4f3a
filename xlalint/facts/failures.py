"""Failures of the analysis: they are reported to the user, and never taken for "nothing found"."""

from __future__ import annotations

import os
import sys

import msgspec

from xlalint.facts.events import Facts

TOO_DEEP = "nested too deeply"
OVERRUN = "the bound on the work for one file was reached; the rest of the file was not analysed either"


class Overrun(Exception):
    """The analysis of a file met the bound on its work. The message is one line."""


class Failure(msgspec.Struct, frozen=True, array_like=True, order=True):
    """A part of a file that was not analysed: the function that begins at ``line``, or all of the file where that is 0.

    ``internal`` tells a bug, or a bound that was met, from a file that can't be read or parsed.
    """

    path: str
    line: int
    function: str
    reason: str
    internal: bool


class Analysed(msgspec.Struct, frozen=True):
    """The facts of one file, and the parts of it that there are none of."""

    facts: Facts
    failures: tuple[Failure, ...] = ()
    imports_xla: bool = False
    """It imports torch_xla, or what imports it does."""
    needs_cuda: str = ""
    """The package for GPUs without which it can't be imported."""

    @property
    def unread(self) -> str:
        """Why all of the file was left out; empty where it was analysed, in part at least."""
        return next((one.reason for one in self.failures if not one.line), "")


def reason_of(error: Exception) -> str:
    """One line for what went wrong inside. With ``XLALINT_TRACEBACK`` set, the place is shown, too."""
    if isinstance(error, Overrun):
        return str(error)
    if isinstance(error, RecursionError):
        return TOO_DEEP
    if os.environ.get("XLALINT_TRACEBACK"):
        sys.__excepthook__(type(error), error, error.__traceback__)
    told = " ".join(str(error).split())
    return f"internal error: {type(error).__name__}: {told}" if told else f"internal error: {type(error).__name__}"
