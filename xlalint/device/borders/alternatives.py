"""Other values of options than those that a script runs with: choices, values that it compares them with, switches,
and none in place of a count to wait for.

A place behind `if args.method == "relation"` is come to by the command line that asks for it. Imports nothing heavy.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from typing import Any

from xlalint.device.borders.compared_values import ComparedValues

_LEFT_OUT = re.compile(r"gpu|cuda|cpu|device|rank|seed|worker|help|version|resume|port$|url|backend")
"""What decides where a program runs, or nothing in its steps."""
_MOST = 6
"""Values of one option."""


class Alternatives:
    """Of the options that a program's parsers read from the command line."""

    def __init__(self, compared: ComparedValues) -> None:
        self._compared = compared
        self._parsed: list[tuple[Any, dict[str, Any]]] = []

    def parsed(self, parser: Any, found: Any) -> None:
        """A parser has given these values, which the program may change later."""
        self._parsed.append((parser, dict(vars(found))))

    def told(self) -> dict[str, tuple[str, ...]]:
        """Expressions by the name of an option; asked for when all files have been read."""
        told: dict[str, tuple[str, ...]] = {}
        for parser, found in self._parsed:
            for action in parser._actions:
                name = action.dest
                if name in found and not _LEFT_OUT.search(name.lower()):
                    values = dict.fromkeys(map(repr, self._others(action, found[name])))
                    if values:
                        told[name] = tuple(values)[:_MOST]
        return told

    def _others(self, action: Any, value: Any) -> Iterator[str | int | float | bool]:
        of_type = isinstance(value, bool) and action.nargs is None and callable(action.type)
        if of_type or isinstance(action, (argparse._StoreTrueAction, argparse._StoreFalseAction)):
            # A switch, or one by `type=str2bool`.
            yield not value
            return
        compared = [each for each in self._compared.all_of(action.dest) if each != value]
        if action.choices is not None and len(action.choices) <= _MOST:
            yield from (each for each in action.choices if each != value and isinstance(each, (str, int, float)))
        elif action.choices is not None:
            compared = [each for each in compared if each in action.choices]
        if action.nargs is None and action.type in (None, str):
            yield from compared
        if action.dest in self._compared.bounds and type(value) in (int, float) and value > 0:
            # What is done only so many steps later, or before.
            yield type(value)(0)
