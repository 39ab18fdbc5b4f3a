"""Who asks for a file that is not there: a line of the program's own, and whether that does without. Imports nothing
heavy.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable
from typing import Any

_OF_FILES = frozenset({"FileNotFoundError", "OSError", "IOError", "EnvironmentError"})
_OF_ALL = frozenset({"Exception", "BaseException"})


class MissingFiles:
    """Of one script. ``owned`` tells the program's own files."""

    def __init__(self, owned: Callable[[str], bool]) -> None:
        self._owned = owned
        self._let_go: set[tuple[str, int]] = set()
        """(path, line) from which a handler of the same function goes on."""

    def read(self, tree: ast.Module, path: str) -> None:
        """The handlers of one file."""
        for node in ast.walk(tree):
            if isinstance(node, ast.Try) and any(_goes_on(each) for each in node.handlers):
                last = node.body[-1].end_lineno or node.body[-1].lineno
                self._let_go.update((path, line) for line in range(node.body[0].lineno, last + 1))

    def asker(self) -> str | None:
        """`file:line` of the program's innermost line, for whom a value is made up; None where nobody of the program
        asks, or where it goes on without."""
        frame: Any = sys._getframe(2)
        while frame is not None and not self._owned(frame.f_code.co_filename):
            frame = frame.f_back
        if frame is None or (frame.f_code.co_filename, frame.f_lineno) in self._let_go:
            return None
        return f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}"


def _goes_on(handler: ast.ExceptHandler) -> bool:
    caught = {getattr(node, "id", "") for node in ast.walk(handler.type)} if handler.type is not None else _OF_ALL
    return bool(caught & (_OF_FILES | _OF_ALL)) and not any(isinstance(node, ast.Raise) for node in ast.walk(handler))
