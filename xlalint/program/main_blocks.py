"""What stands under ``if __name__ == "__main__"``: a program, or a trial of what the file defines.

The same block is judged as a syntax tree, where its file is lowered, and as text, where files are only searched.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from typing import TypeGuard

from xlalint.program import ir
from xlalint.sources.dependents import File
from xlalint.sources.patterns import lazy_pattern

PROGRAMS = frozenset({"main", "run", "train", "launch", "spawn", "Fire"})
"""What a file calls that is a program."""
EXAMPLES = frozenset({"testmod", "testfile", "run_docstring_examples"})
"""What runs the examples in docstrings."""
TRIALS = ("test", "demo", "example")
"""How functions are named that try out what stands in their file."""

_GUARD = lazy_pattern(rb"^if[ \t(]+__name__[ \t]*==", re.MULTILINE)
_MADE_UP = lazy_pattern(
    rb"\b(?:rand|randn|randint|ones|zeros|empty|arange|rand_like|randn_like|doctest)\(|^[ \t]+print\(", re.MULTILINE
)
_PROGRAM = lazy_pattern(
    rb"(?<![.\w])(?:" + "|".join(sorted(PROGRAMS)).encode() + rb"|(?:train|run|evaluate)\w*)[ \t]*\("
    rb"|\bparse_args\b|\bArgumentParser\b|\bargv\b|\bDataLoader\b|\bepochs?\b|\.(?:fit|run|load_state_dict)\("
    rb"|^[ \t]+(?:for|while)\b",
    re.MULTILINE,
)
"""What tells a program from a block that tries something out."""


def is_main_guard(test: ast.expr) -> bool:
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.left, ast.Name)
        and test.left.id == "__name__"
        and any(isinstance(c, ast.Constant) and c.value == "__main__" for c in test.comparators)
    )


def is_main_block(statement: ir.Stmt) -> TypeGuard[ir.If]:
    if type(statement) is not ir.If or type(statement.test) is not ir.Compare:
        return False
    left = statement.test.left
    return type(left) is ir.Name and left.name == "__name__" and not statement.orelse


def is_program(block: list[ast.stmt], functions: Collection[str], in_package: bool) -> bool:
    """Whether such a block of a file with these functions makes a script of it: not one that has the examples of its
    file run, nor in a package one that tries out."""
    if any(isinstance(node, ast.For | ast.While | ast.With) for node in block):
        return True
    called = {spelled_last(node.func) for one in block for node in ast.walk(one) if isinstance(node, ast.Call)}
    own = {name for name in called.intersection(functions) if not name.lstrip("_").startswith(TRIALS)}
    tries_out = in_package or not called.isdisjoint(EXAMPLES)
    return not tries_out or bool(own) or not called.isdisjoint(PROGRAMS)


def spelled_last(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def has_main_block(data: bytes) -> bool:
    """Whether a file, or a statement of one, says what is done when it is run as a script."""
    return _GUARD.search(data) is not None


def tries_out(file: File) -> bool:
    """Whether the block only shows what the file defines, with made-up tensors."""
    if not has_main_block(file.data):
        return False
    blocks = [text for text in statements(file) if has_main_block(text)]
    return bool(blocks) and all(_MADE_UP.search(block) and not _PROGRAM.search(block) for block in blocks)


def statements(file: File) -> Iterator[bytes]:
    """What a file does where it is read."""
    return (one.text for one in file.definitions if not one.name and not one.is_import)


def line_of_main_block(file: File) -> int:
    """The line of the last one."""
    return before_main_block(file).count(b"\n") + 1


def before_main_block(file: File) -> bytes:
    """The text up to the last one."""
    *_, last = _GUARD.finditer(file.data)
    return file.data[: last.start()]
