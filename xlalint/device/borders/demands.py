"""What a program demands of its surroundings, or ends: `if not os.path.isdir(root): raise RuntimeError(root)`,
`assert timm.__version__ == "0.3.2"`. Imports nothing heavy.

What is read from a path is made up where it is asked for, and what a former version answered is asked for where it is
missed; so the program is let past the question.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import NamedTuple

from xlalint.device.borders.clock import Clock

_OF_PATHS = frozenset({"exists", "lexists", "isfile", "isdir", "is_file", "is_dir"})
_OF_VERSIONS = frozenset({"__version__", "parse_version", "LooseVersion", "StrictVersion"})
_ENDS = frozenset({"sys.exit", "exit", "quit", "os._exit", "os.abort"})
_COMPLAINT = "error"
"""`parser.error(…)`"""


class Demand(NamedTuple):
    """A question in a test, and the answer with which the program goes on."""

    question: ast.expr
    wanted: bool


def demanded(node: ast.If | ast.Assert) -> list[Demand]:
    """The questions of a test that have to be answered in one way, as the program raises or exits otherwise."""
    if isinstance(node, ast.Assert):
        return _asked(node.test, True)
    if _ends(node.body):
        return _asked(node.test, False)
    return _asked(node.test, True) if _ends(node.orelse) else []


def answers(clock: Clock) -> Callable[[object, bool, str], bool]:
    """What stands around a question: its own answer, the one that is wanted, and its text."""

    def answered(answer: object, wanted: bool, text: str) -> bool:
        if bool(answer) is not wanted:
            clock.assume(f"`{text}` is {str(wanted).lower()}: the program ends otherwise")
        return wanted

    return answered


def _asked(test: ast.expr, wanted: bool) -> list[Demand]:
    """``wanted`` is the outcome of the test with which the program goes on."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _asked(test.operand, not wanted)
    if isinstance(test, ast.BoolOp):
        return [each for part in test.values for each in _asked(part, wanted)]
    if isinstance(test, ast.Compare) and _parts_named(test) & _OF_VERSIONS:
        return [Demand(test, wanted)]
    of_path = isinstance(test, ast.Call) and ast.unparse(test.func).rpartition(".")[2] in _OF_PATHS
    return [Demand(test, True)] if of_path and wanted else []


def _parts_named(test: ast.expr) -> set[str]:
    found = (getattr(node, "id", None) or getattr(node, "attr", None) for node in ast.walk(test))
    return {name for name in found if isinstance(name, str)}


def _ends(block: list[ast.stmt]) -> bool:
    last = block[-1] if block else None
    if isinstance(last, ast.Raise):
        return True
    if not isinstance(last, ast.Expr) or not isinstance(last.value, ast.Call):
        return False
    called = ast.unparse(last.value.func)
    return called in _ENDS or called.endswith(f"parser.{_COMPLAINT}")
