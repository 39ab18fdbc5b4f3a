"""What decides a test: the names from outside that it comes of."""

from __future__ import annotations

import ast
from collections.abc import Collection

from xlalint.slicing.dependence import heads, reads, touches, writes

_MADE_UP = ("True", "False", "None", "stand_in.Absent(", "lambda ")
_ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def origins_of(test: ast.expr, body: list[ast.stmt], paths: Collection[str]) -> list[str]:
    """Those of ``paths`` that a test in ``body`` asks for, also by what sets the names in it."""
    needed = reads(iter([test]))
    statements = [node for block in body for node in ast.walk(block) if isinstance(node, ast.stmt)]
    grown = True
    while grown:
        before = len(needed)
        for each in statements:
            if any(touches(path, needed) for path in writes(each)):
                needed |= reads(heads(each))
        grown = len(needed) > before
    return [path for path in paths if any(path == each or each.startswith(f"{path}.") for each in needed)]


def decides(text: str, test: ast.expr) -> bool:
    """Whether another stand-in than ``text`` would answer the test in another way: data may be anything, and a number
    that bounds something may be any number."""
    if text.startswith(_MADE_UP) or text[:1] in "'\"":
        return True
    compared = isinstance(test, ast.Compare) and all(isinstance(op, _ORDER) for op in test.ops)
    return text[:1].isdigit() and not compared
