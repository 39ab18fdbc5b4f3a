"""Summaries of calls into installed packages, and the interface of whoever gives them."""

from __future__ import annotations

from typing import Protocol

import msgspec

from xlalint.facts.domain.values import Value
from xlalint.facts.kinds import SignKind


class Cost(msgspec.Struct, frozen=True, array_like=True):
    """A place in a library that costs whenever the call is made."""

    what: str
    """What happens there, as a verb with its object: "reads the host"."""
    place: str
    """File and line, from the folder of the package: "accelerate/utils/operations.py:781"."""
    certainty: int


class ExternalSummary(msgspec.Struct, frozen=True):
    """``signs`` are the kinds of evidence of a step that the call leaves, each once; ``failure`` says in one line why
    nothing was found out, where the analysis failed."""

    value: Value
    cost: Cost | None
    signs: tuple[SignKind, ...]
    failure: str = ""


class Called(msgspec.Struct, frozen=True):
    """What a call is given."""

    arguments: list[Value]
    keywords: dict[str, Value]
    no_grad: bool


class Follower(Protocol):
    """Follows calls out of the program into the sources of installed packages."""

    def kind_of(self, name: str, importer: str) -> str:
        """What a dotted name is, imported by a file: "function", "module" (a class of modules), "class", or empty."""

    def made(self, name: str, called: Called) -> str:
        """How an object of such a class was made, as a text to ask about it by."""

    def of_call(self, name: str, importer: str, called: Called) -> ExternalSummary: ...

    def of_method(self, made: str, method: str, importer: str, called: Called) -> ExternalSummary | None:
        """None where the class has no such method."""

    def close(self) -> None:
        """Keep what was found out for other runs."""
