"""What an edit is given: the statement, read exactly, and the place in it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

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
_GUARDS = ("if", "elif", "else", "try", "except", "with")


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

    def call(self) -> cst.Call | None:
        """The call at the target."""
        node = self.parsed.expression(self.target)
        return node if isinstance(node, cst.Call) else None


Maker = Callable[[Site], list[TextEdit] | None]
"""Makes an edit of a site, or returns None where the code has not the form that the edit needs."""


def is_primary(node: cst.BaseExpression) -> bool:
    """Whether a dot may follow the node as it stands."""
    return isinstance(node, _PRIMARY) or bool(node.lpar)


def binds(source: Source, dotted: str) -> bool:
    """Whether the file imports the root of a dotted name at its top level; a name without dots is a builtin."""
    root, dot, _ = dotted.partition(".")
    if not dot:
        return True
    name = re.escape(root)
    statement = re.compile(rf"import\s+(?:[^#;]*,\s*)?{name}(?:\.[\w.]+)?\s*(?:[,;#]|$)")
    opener = ""
    for line in source.lines():
        if line[:1] not in ("", " ", "\t", "#", ")"):
            opener = line
        if root in line and statement.match(line.strip()) and (line is opener or _runs_on_import(opener)):
            return True
    return False


def _runs_on_import(opener: str) -> bool:
    return opener.startswith(_GUARDS) and "TYPE_CHECKING" not in opener
