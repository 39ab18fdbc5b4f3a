"""Paths without which a program ends: `if not os.path.isdir(root): raise RuntimeError(root)`. Imports nothing heavy.

What is read there is made up where it is asked for, so the program is let past the question.
"""

from __future__ import annotations

import ast
from collections.abc import Callable

from xlalint.device.borders.clock import Clock

_QUESTIONS = frozenset({"exists", "lexists", "isfile", "isdir", "is_file", "is_dir"})
_ENDS = frozenset({"sys.exit", "exit", "quit", "os._exit", "os.abort"})
_COMPLAINT = "error"
"""`parser.error(…)`"""


def demanded(node: ast.If | ast.Assert) -> list[ast.Call]:
    """The questions that have to be answered with yes, as the program raises or exits otherwise."""
    if isinstance(node, ast.Assert):
        return list(_asked(node.test, True))
    if _ends(node.body):
        return list(_asked(node.test, False))
    return list(_asked(node.test, True)) if _ends(node.orelse) else []


def taken_for_there(clock: Clock) -> Callable[[object, str], bool]:
    """What stands around a question: its answer, and its text."""

    def there(answer: object, text: str) -> bool:
        if not answer:
            clock.assume(f"`{text}` is true: the program ends where nothing is there")
        return True

    return there


def _asked(test: ast.expr, wanted: bool) -> list[ast.Call]:
    """``wanted`` is the outcome of the test with which the program goes on."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _asked(test.operand, not wanted)
    if isinstance(test, ast.BoolOp):
        return [each for part in test.values for each in _asked(part, wanted)]
    asks = isinstance(test, ast.Call) and wanted and ast.unparse(test.func).rpartition(".")[2] in _QUESTIONS
    return [test] if asks and isinstance(test, ast.Call) else []


def _ends(block: list[ast.stmt]) -> bool:
    last = block[-1] if block else None
    if isinstance(last, ast.Raise):
        return True
    if not isinstance(last, ast.Expr) or not isinstance(last.value, ast.Call):
        return False
    called = ast.unparse(last.value.func)
    return called in _ENDS or called.endswith(f"parser.{_COMPLAINT}")
