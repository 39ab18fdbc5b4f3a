"""What the file imports at its top level, and how a name is spelled with that."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from xlalint.edits.coordinates import Lines, Point, inserted
from xlalint.findings.model import TextEdit
from xlalint.slicing.syntax_tree import plain_tree
from xlalint.sources.source import Source

_DEFINITION = re.compile(r"^(?:def|class|async|@)", re.MULTILINE)


class Spelling(NamedTuple):
    """How a name is written in a file, and the import that this needs: empty where there is one."""

    text: str
    missing: str = ""


class _Binding(NamedTuple):
    """``local`` names the thing whose full name is ``full``; ``loads`` are the modules that the import loads."""

    local: str
    full: str
    loads: str


def spelled(source: Source, dotted: str) -> Spelling | None:
    """A dotted name as the file would write it, or None where nothing of its package is imported.

    A name without dots is a builtin. A module below an imported package may not be loaded by it, so that it is
    imported by the edit.
    """
    if "." not in dotted:
        return Spelling(dotted)
    found = _spelled_by(_head(source.text), dotted)
    return found if found is not None and not found.missing else _spelled_by(source.text, dotted)


def _head(text: str) -> str:
    """The text before the first definition: where the imports mostly stand, and read in a fraction of the time."""
    definition = _DEFINITION.search(text)
    return text if definition is None else text[: definition.start()]


def _spelled_by(text: str, dotted: str) -> Spelling | None:
    tree = plain_tree(text)
    bindings = [] if tree is None else list(_bindings(tree.body))
    root, module = dotted.partition(".")[0], dotted.rpartition(".")[0]
    for binding in bindings:
        if binding.full in (dotted, module) and (binding.local != binding.full or binding.loads == module):
            return Spelling(binding.local + dotted[len(binding.full) :])
    if any(f"{binding.loads}.".startswith(f"{module}.") and binding.local == root for binding in bindings):
        return Spelling(dotted)
    if module != root and any(binding.full.partition(".")[0] == root for binding in bindings):
        return Spelling(dotted, f"import {module}")
    return None


def binds(source: Source, dotted: str) -> bool:
    """Whether a dotted name can be written as it is; one without dots is a builtin or a constant."""
    found = spelled(source, dotted)
    return found is not None and found == Spelling(dotted)


def import_line(source: Source, lines: Lines, statement: str) -> TextEdit | None:
    """A new import behind the first ones of the file, or before its code where it has none."""
    tree = plain_tree(source.text)
    if tree is None or not tree.body:
        return None
    last: ast.stmt | None = None
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom) or _is_docstring(node):
            last = node
        elif last is not None and not _is_docstring(last):
            break
    if last is None:
        return inserted(Point(tree.body[0].lineno, 0), f"{statement}\n")
    return inserted(lines.line_end(last.end_lineno or last.lineno), f"\n{statement}")


def _bindings(body: list[ast.stmt]) -> Iterator[_Binding]:
    """The names that imports bind at the top level, also in an ``if`` or ``try`` there."""
    for node in body:
        match node:
            case ast.Import(names=names):
                for name in names:
                    root = name.name.partition(".")[0]
                    yield _Binding(name.asname or root, name.name if name.asname else root, name.name)
            case ast.ImportFrom(module=str(module), names=names, level=0):
                for name in names:
                    yield _Binding(name.asname or name.name, f"{module}.{name.name}", module)
            case ast.If(body=inside, orelse=other) if "TYPE_CHECKING" not in ast.unparse(node.test):
                yield from _bindings([*inside, *other])
            case ast.Try(body=inside, orelse=other):
                yield from _bindings([*inside, *other])
            case ast.With(body=inside):
                yield from _bindings(inside)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
