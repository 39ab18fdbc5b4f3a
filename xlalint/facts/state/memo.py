"""Summaries: the results of the engine's queries, and the memo that keeps them."""

from __future__ import annotations

from typing import Any

import msgspec

from xlalint.facts.domain.values import Value
from xlalint.facts.state.environment import Names


class Summary(msgspec.Struct, frozen=True, eq=False):
    """The result of one evaluation. ``calls`` and ``attributes`` are the depths it needed."""

    value: Value
    writes: dict[str, Value]
    final: Names
    """The names at its end, of a module's body; what else ended keeps none."""
    clean: bool
    """A step boundary was the last that the device saw."""
    calls: int
    attributes: int
    whole_calls: bool
    """No call was cut short: the answer holds for every call budget of at least ``calls``."""
    whole_attributes: bool
    cost: int
    given: tuple[dict[str, Names], Names] = ({}, {})
    """What it leaves in its arguments: fields that it set, by parameter, and containers that it filled."""
    heeds_signature: bool = False
    """Whether it matters that no call gave the arguments; otherwise a call with the same ones has the same answer."""


class Memo:
    """Answers by question, each with the budgets that it was asked with."""

    __slots__ = ("answers",)

    def __init__(self) -> None:
        self.answers: dict[Any, list[tuple[int, int, Summary]]] = {}

    def get(self, key: Any, calls: int, attributes: int) -> Summary | None:
        for asked_calls, asked_attributes, answer in self.answers.get(key, ()):
            if (asked_calls == calls or (answer.whole_calls and answer.calls <= calls)) and (
                asked_attributes == attributes or (answer.whole_attributes and answer.attributes <= attributes)
            ):
                return answer
        return None

    def put(self, key: Any, calls: int, attributes: int, answer: Summary) -> None:
        self.answers.setdefault(key, []).append((calls, attributes, answer))


def summary_of(value: Value) -> Summary:
    return Summary(value, {}, {}, False, 0, 0, True, True, 1)


class Budget:
    """How deep a query may still go, and how deep it went.

    ``calls`` and ``attributes`` are budgets. ``needed_calls`` and ``needed_attributes`` say how much of them was
    used, ``whole_calls`` and ``whole_attributes`` whether their bound was never hit. An attribute is asked for with
    a call budget of its own, so its calls do not count here.
    """

    __slots__ = ("attributes", "calls", "needed_attributes", "needed_calls", "whole_attributes", "whole_calls")

    def __init__(self, calls: int, attributes: int) -> None:
        self.calls = calls
        self.attributes = attributes
        self.needed_calls = 0
        self.needed_attributes = 0
        self.whole_calls = True
        self.whole_attributes = True

    def used(self, answer: Summary, calls: int, attributes: int) -> None:
        """An answer was used that needed so much; ``calls`` is 0 for an attribute's."""
        if attributes > self.needed_attributes:
            self.needed_attributes = attributes
        if not answer.whole_attributes:
            self.whole_attributes = False
        if calls:
            if calls > self.needed_calls:
                self.needed_calls = calls
            if not answer.whole_calls:
                self.whole_calls = False

    def cut_calls(self) -> None:
        self.whole_calls = False

    def cut_attributes(self) -> None:
        self.whole_attributes = False
