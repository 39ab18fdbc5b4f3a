"""Text → the standard syntax tree, and what the tree's nodes are called and where they stand."""

from __future__ import annotations

import ast
import sys
import warnings
from typing import Any

from xlalint.program import ir


class Unparsable(Exception):
    """The text is not Python that this interpreter can read. One line, without the path."""


SHALLOW = 100_000
"""Characters in which nothing can be nested so deeply that Python 3.10 would crash."""
DEEP_STACK = 1 << 29
"""Bytes; they are only taken where they are used."""

OPERATORS: dict[type, str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.Mod: "mod",
    ast.FloorDiv: "floordiv",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
    ast.LShift: "shl",
    ast.RShift: "shr",
    ast.Not: "not",
    ast.USub: "neg",
    ast.UAdd: "pos",
    ast.Invert: "invert",
    ast.And: "and",
    ast.Or: "or",
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Is: "is",
    ast.IsNot: "is-not",
    ast.In: "in",
    ast.NotIn: "not-in",
}


def parse(text: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return deep_parse(text) if sys.version_info < (3, 11) and len(text) > SHALLOW else ast.parse(text)
    except SyntaxError as error:
        raise Unparsable(syntax_message(error)) from None
    except (RecursionError, MemoryError):
        raise Unparsable("nested too deeply") from None
    except ValueError as error:
        raise Unparsable(str(error)) from None


def deep_parse(text: str) -> ast.Module:
    """Python 3.10 does not count how deep it makes the tree, and overflows the usual stack of 8 MB."""
    import threading

    found: list[ast.Module | BaseException] = []

    def run() -> None:
        try:
            found.append(ast.parse(text))
        except (SyntaxError, RecursionError, MemoryError, ValueError) as error:
            found.append(error)

    before = threading.stack_size(DEEP_STACK)
    try:
        thread = threading.Thread(target=run)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()
    (result,) = found
    if isinstance(result, BaseException):
        raise result
    return result


def syntax_message(error: SyntaxError) -> str:
    """One line; says so where a newer Python would read the text."""
    where = f" at line {error.lineno}" if error.lineno else ""
    text = (error.msg or "invalid syntax").splitlines()[0]
    if "too many nested" in text or "too complex" in text:
        return f"nested too deeply{where}"
    newer = newer_syntax(error)
    if newer:
        return f"needs Python {newer} to read ({text}{where})"
    return f"syntax error: {text}{where}"


def newer_syntax(error: SyntaxError) -> str | None:
    """The Python version whose syntax the failing line seems to use, if it is newer than the running one."""
    import re

    line = (error.text or "").strip()
    hints = (
        ((3, 11), r"^except\s*\*"),
        ((3, 13), r"^(type|class|(async\s+)?def)\s+\w+\s*\[[^\](]*[^=!<>:]=[^=]"),
        ((3, 12), r"^type\s+\w+(\[.*\])?\s*=|^(async\s+)?def\s+\w+\s*\[|^class\s+\w+\s*\["),
        ((3, 12), r"""\bf["'].*\{.*["'].*\}"""),
        ((3, 14), r"""\bt["']|^except\s+\w+\s*,\s*\w+\s*:"""),
    )
    for version, pattern in hints:
        if sys.version_info < version and re.search(pattern, line):
            return f"{version[0]}.{version[1]}"
    return None


def span(node: Any) -> int:
    return ir.pack(node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)


def header(node: ast.AST, last: ast.AST | None) -> int:
    """The span of a compound statement's first part: from its keyword to the end of ``last``."""
    n: Any = node
    end: Any = last
    if end is None:
        return ir.pack(n.lineno, n.col_offset, n.lineno, n.col_offset + len(n.name) + 6)
    return ir.pack(n.lineno, n.col_offset, end.end_lineno, end.end_col_offset)


def last_parameter(arguments: ast.arguments) -> ast.AST | None:
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    if arguments.kwarg:
        return arguments.kwarg
    return every[-1] if every else None
