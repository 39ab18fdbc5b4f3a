"""What an edit is given: the statement, read exactly, and the place in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import libcst as cst

from xlalint.edits.coordinates import Lines, Range
from xlalint.edits.statement import Parsed
from xlalint.findings.model import TextEdit
from xlalint.sources.source import Source

_PRIMARY = (
    cst.Name,
    cst.Attribute,
    cst.Call,
    cst.Subscript,
    cst.List,
    cst.ListComp,
    cst.Dict,
    cst.DictComp,
    cst.Set,
    cst.SetComp,
)


@dataclass(frozen=True)
class Site:
    """One edit to be made: ``target`` is the place that the rule named, ``arguments`` are the edit's."""

    source: Source
    lines: Lines
    parsed: Parsed
    target: Range
    arguments: tuple[str, ...]

    def text(self, node: cst.CSTNode) -> str:
        """The text of a node as it stands, without its parentheses."""
        return self.lines.text(self.parsed.ranges[node])

    def outer_text(self, node: cst.CSTNode) -> str:
        return self.lines.text(self.parsed.outer(node))

    def receiver(self, node: cst.BaseExpression) -> str:
        """The text of a node such that a dot or a bracket may follow."""
        return self.outer_text(node) if is_primary(node) else f"({self.outer_text(node)})"

    def expressions(self, inside: str) -> list[cst.BaseExpression]:
        """The expressions in the target that have the text ``inside``, in the order of the text."""
        ranges = self.parsed.ranges
        around = (node for node, where in ranges.items() if self.target.contains(where))
        nodes = (node for node in around if isinstance(node, cst.BaseExpression) and not self._is_label(node))
        return sorted((node for node in nodes if self.text(node) == inside), key=lambda node: ranges[node])

    def _is_label(self, node: cst.BaseExpression) -> bool:
        """Whether a name is none of a value, but that of an attribute or a keyword."""
        parent = self.parsed.parents.get(node)
        return (isinstance(parent, cst.Attribute) and parent.attr is node) or (
            isinstance(parent, cst.Arg) and parent.keyword is node
        )

    def call(self, inside: str = "") -> cst.Call | None:
        """The call at the target, or the first one in it that has the text ``inside``."""
        nodes = self.expressions(inside) if inside else [self.parsed.expression(self.target)]
        return next((node for node in nodes if isinstance(node, cst.Call)), None)

    @cached_property
    def small(self) -> cst.BaseSmallStatement | None:
        """The simple statement around the target: one of several on its line, or the body of a short ``if``."""
        ranges = self.parsed.ranges
        around = [n for n in ranges if isinstance(n, cst.BaseSmallStatement) and ranges[n].contains(self.target)]
        return max(around, key=lambda node: ranges[node].start, default=None)

    def is_small(self) -> bool:
        """Whether the target is a simple statement as a whole."""
        return self.small is not None and self.parsed.ranges[self.small] == self.target


Maker = Callable[[Site], list[TextEdit] | None]
"""Makes an edit of a site, or returns None where the code has not the form that the edit needs."""


def is_primary(node: cst.BaseExpression) -> bool:
    """Whether a dot may follow the node as it stands."""
    return isinstance(node, _PRIMARY) or bool(node.lpar)
