"""One file as a tree of statements: where a finding stands, in which function, in which loops."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from functools import cached_property
from typing import TypeAlias

from xlalint.facts.events import Span
from xlalint.findings.model import Position
from xlalint.sources.source import Source

Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Loop: TypeAlias = ast.For | ast.While
Scope: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Module


class SyntaxTree:
    """The tree of a file, with the way upwards. ``module`` is None where the file does not parse."""

    def __init__(self, source: Source) -> None:
        self.path = source.path
        self.lines = source.lines()
        self.module = plain_tree("\n".join(self.lines))

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        found: dict[ast.AST, ast.AST] = {}
        waiting: list[ast.AST] = [self.module] if self.module is not None else []
        while waiting:
            node = waiting.pop()
            for child in ast.iter_child_nodes(node):
                found[child] = node
                waiting.append(child)
        return found

    def at(self, where: Position) -> ast.expr | ast.stmt | None:
        """The node with exactly this range; for a range that is a header, its statement."""
        begun: list[ast.stmt] = []
        for node in self.parents:
            if not isinstance(node, (ast.expr, ast.stmt)) or node.lineno != where.line:
                continue
            if self.column(node.lineno, node.col_offset) != where.column:
                continue
            if self._end(node) == (where.end_line, where.end_column):
                return node
            if isinstance(node, ast.stmt):
                begun.append(node)
        return begun[0] if begun else self._around(where)

    def _around(self, where: Position) -> ast.stmt | None:
        """The innermost statement around a range that is no node's: a part of an f-string, say."""
        inside = [
            node
            for node in self.parents
            if isinstance(node, ast.stmt) and node.lineno <= where.line <= (node.end_lineno or node.lineno)
        ]
        return max(inside, key=lambda node: (node.lineno, node.col_offset), default=None)

    def _end(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        line = node.end_lineno or node.lineno
        return (line, self.column(line, node.end_col_offset or 0))

    def column(self, line: int, offset: int) -> int:
        text = self.lines[line - 1]
        return offset + 1 if text.isascii() else len(text.encode()[:offset].decode(errors="ignore")) + 1

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around a node, innermost first."""
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent

    def statement(self, node: ast.AST) -> ast.stmt | None:
        for each in (node, *self.above(node)):
            if isinstance(each, ast.stmt):
                return each
        return None

    def scope(self, node: ast.AST) -> Scope:
        """The innermost function around a node, or the module."""
        for each in self.above(node):
            if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)):
                return each
        raise ValueError("the node is not of this tree")

    def owner(self, scope: Scope) -> ast.ClassDef | None:
        """The class whose method a function is."""
        parent = self.parents.get(scope)
        return parent if isinstance(parent, ast.ClassDef) else None

    def call_at(self, line: int, column: int) -> ast.Call | None:
        """The call that begins at a place; lines and columns from 1."""
        found = [
            node
            for node in self.parents
            if isinstance(node, ast.Call) and node.lineno == line and self.column(line, node.col_offset) == column
        ]
        return found[0] if found else None


def span_of(node: ast.expr | ast.stmt) -> Span:
    return Span(node.lineno, node.col_offset, node.end_lineno or node.lineno, node.end_col_offset or 0)


def plain_tree(text: str) -> ast.Module | None:
    """The standard tree of a text, or None where it does not parse."""
    with warnings.catch_warnings():
        # A bad escape in the user's string is not ours to report.
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None
