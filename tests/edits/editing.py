"""What the tests of this folder share: the statements of real files as the fast reading knows them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from xlalint.edits.fixes import text_edits
from xlalint.edits.merge import merge
from xlalint.facts.events import Span
from xlalint.findings.model import Edit, Safety
from xlalint.sources.layout import Layout
from xlalint.sources.source import Source


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


def find(text: str, piece: str, nth: int = 0) -> tuple[Span, Span]:
    """The span of the nth piece of text that is an expression, a statement or a header, and its statement's."""
    found = set()
    for statement, nodes in statements(ast.parse(text)):
        spans = [*(span_of(node) for node in nodes), statement]
        found |= {(span, statement) for span in spans if piece_of(text, span) == piece}
    return sorted(found)[nth]


def piece_of(text: str, span: Span) -> str:
    lines = text.encode().replace(b"\r\n", b"\n").split(b"\n")[span.line - 1 : span.end_line]
    lines[-1] = lines[-1][: span.end_column]
    lines[0] = lines[0][span.column :]
    return b"\n".join(lines).decode()


def logical_line(text: str, line: int) -> Span:
    """The code of a logical line, as the findings know it: all statements on it, a header without its colon."""
    code = Layout(text.replace("\r\n", "\n").replace("\r", "\n")).code_at(line)
    return Span(code.line, code.column, code.end_line, code.end_column)


def fixed(text: str, piece: str, kind: str, *arguments: str, nth: int = 0) -> str | None:
    """The text after one edit at a piece of it, or None where the edit is refused; what comes out must parse.

    The statement may be given exactly or by its logical line: the fix is the same.
    """
    span, statement = find(text, piece, nth)
    edit = Edit(kind, span, "a fix", Safety.UNSAFE, arguments)
    source = Source("train.py", text, "utf-8")
    fix = text_edits(edit, source, statement)
    assert text_edits(edit, source, logical_line(text, span.line)) == fix
    if fix is None:
        return None
    merged = merge(text, [fix])
    assert merged.applied == (fix,)
    ast.parse(merged.text)
    return merged.text
