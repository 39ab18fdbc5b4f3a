"""What the tests of this folder share: the statements of real files as the fast reading knows them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from xlalint.facts.events import Span


def span_of(node: ast.AST) -> Span:
    return Span(node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)


def _header_parts(node: ast.stmt) -> list[ast.AST] | None:
    """The last expressions of a compound statement's header; None for a simple statement."""
    match node:
        case ast.If() | ast.While():
            return [node.test]
        case ast.For() | ast.AsyncFor():
            return [node.target, node.iter]
        case ast.With() | ast.AsyncWith():
            return [part for item in node.items for part in (item.context_expr, item.optional_vars) if part]
        case ast.Match():
            return [node.subject]
        case ast.Try() | ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return []
    return [] if type(node).__name__ == "TryStar" else None


def statements(tree: ast.Module) -> Iterator[tuple[Span, list[ast.expr]]]:
    """Each statement's span (for a compound one its header's) with the expressions inside."""
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            parts = _header_parts(node)
            if parts is None:
                yield span_of(node), _expressions([node])
            elif parts:
                last = max((span_of(part) for part in parts), key=lambda span: (span.end_line, span.end_column))
                yield Span(node.lineno, node.col_offset, last.end_line, last.end_column), _expressions(parts)


def _expressions(roots: list[ast.AST]) -> list[ast.expr]:
    return [node for root in roots for node in ast.walk(root) if isinstance(node, ast.expr)]


@pytest.fixture
def find():
    """Finds the span of a piece of text, and of the statement around it, as ``ast`` gives them."""

    def find(text: str, piece: str, nth: int = 0) -> tuple[Span, Span]:
        found = [
            (span_of(node), statement)
            for statement, nodes in statements(ast.parse(text))
            for node in nodes
            if ast.get_source_segment(text, node) == piece
        ]
        return sorted(found)[nth]

    return find
