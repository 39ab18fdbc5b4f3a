"""The call that handlers answer: the name of the callee, its arguments, the place."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from xlalint.facts.domain.values import Value
from xlalint.program import ir

Arguments: TypeAlias = list[Value]
Keywords: TypeAlias = dict[str, Value]
"""By name; ``**`` stands for those whose names are not known."""


class Call(msgspec.Struct, frozen=True, eq=False):
    """``name`` is dotted for what lies outside of the program, a method's own name for a method, and empty where a
    value is called that has none. ``node`` is the place of the call, whatever it was handed on to."""

    name: str
    arguments: Arguments
    keywords: Keywords
    node: ir.Call

    @property
    def last(self) -> str:
        """The last part of a dotted name."""
        return self.name.rpartition(".")[2]

    def named(self, name: str) -> Call:
        """The same call of something else."""
        return Call(name, self.arguments, self.keywords, self.node)

    def given(self, arguments: Arguments, keywords: Keywords | None = None) -> Call:
        """The same call with other arguments; the same keywords where none are given."""
        return Call(self.name, arguments, self.keywords if keywords is None else keywords, self.node)
