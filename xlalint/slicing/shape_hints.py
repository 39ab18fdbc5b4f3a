"""What a slice says of the shapes of its names by what it does with them."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from xlalint.slicing.aliases import aliases, resolved
from xlalint.slicing.dependence import path_of

_ASKS_FOR_SIZE = frozenset({"size"})
_NAMES_DIMENSIONS = frozenset({"permute"})
_CONVERSIONS = frozenset({"float", "int", "bool"})
_INDEX_ARGUMENTS = frozenset({"gather", "index_select", "repeat_interleave", "embedding", "one_hot", "scatter", "take"})
"""Calls whose last tensors are integers."""


@dataclass
class Hint:
    """``rank`` where it is said, ``least`` where it is at least so much, ``last`` the size of the last dimension;
    ``is_number``: it bounds a slice or a range, ``is_index``: it is used as an index; ``texts``: what it is compared
    with."""

    rank: int | None = None
    least: int = 0
    last: int | None = None
    is_number: bool = False
    is_index: bool = False
    texts: tuple[str, ...] = ()


def shape_hints(blocks: list[ast.stmt], tests: Iterable[ast.expr] = ()) -> dict[str, Hint]:
    """By path. ``tests`` are taken to hold, and are no part of the blocks."""
    found = _Hints(aliases(blocks))
    for block in (*tests, *blocks):
        for node in ast.walk(block):
            found.note(node)
    return found.by_path


class _Hints:
    def __init__(self, other_names: dict[str, str]) -> None:
        self.other_names = other_names
        self.by_path: dict[str, Hint] = {}
        self.shapes: dict[str, ast.expr] = {}
        """Names that hold a shape."""

    def hint(self, node: ast.AST) -> Hint:
        path = path_of(node) if isinstance(node, (ast.Name, ast.Attribute)) else None
        return self.by_path.setdefault(resolved(path, self.other_names), Hint()) if path is not None else Hint()

    def note(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], (ast.Tuple, ast.List)):
            self._unpacked(node.value, node.targets[0].elts)
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            if _shape_of(node.value)[0] is not None:
                self.shapes.setdefault(node.targets[0].id, node.value)
        elif isinstance(node, (ast.For, ast.comprehension)) and isinstance(node.target, ast.Tuple):
            rows = self.hint(node.iter)
            rows.last, rows.least = len(node.target.elts), max(rows.least, 2)
        elif isinstance(node, ast.Subscript):
            self._subscript(node)
        elif isinstance(node, ast.Call):
            self._call(node)
        elif isinstance(node, ast.Compare):
            self._compared(node)

    def _compared(self, node: ast.Compare) -> None:
        """``mode == "a"``, ``mode in ("a", "b")`` and ``"a" in modes``."""
        for left, right in zip([node.left, *node.comparators], node.comparators, strict=False):
            for one, other in ((left, right), (right, left)):
                texts = [each.value for each in _parts(other) if isinstance(each, ast.Constant)]
                if isinstance(one, (ast.Name, ast.Attribute)) and texts:
                    hint = self.hint(one)
                    hint.texts += tuple(each for each in texts if isinstance(each, str) and each not in hint.texts)

    def _unpacked(self, value: ast.expr, names: list[ast.expr]) -> None:
        if any(isinstance(each, ast.Starred) for each in names):
            return
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "unbind":
            rows = self.hint(value.func.value)
            rows.last, rows.least = len(names), max(rows.least, 2)
        of, missing = _shape_of(self.shapes.get(value.id, value) if isinstance(value, ast.Name) else value)
        if of is not None:
            self.hint(of).rank = len(names) + missing

    def _subscript(self, node: ast.Subscript) -> None:
        of, _ = _shape_of(node.value)
        if of is not None:
            # `x.shape[2]` has at least three.
            if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int):
                hint = self.hint(of)
                hint.least = max(hint.least, node.slice.value + 1)
            return
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        taken = [each for each in parts if not (isinstance(each, ast.Constant) and each.value in (None, ...))]
        depth, inner = 0, node.value
        while isinstance(inner, ast.Subscript):
            depth, inner = depth + 1, inner.value
        if not any(isinstance(each, ast.Constant) and isinstance(each.value, str) for each in parts):
            hint = self.hint(inner)
            hint.least = max(hint.least, len(taken) + depth)
        for each in parts:
            for bound in (each.lower, each.upper) if isinstance(each, ast.Slice) else ():
                for name in ast.walk(bound) if bound is not None else ():
                    self.hint(name).is_number = True
            self.hint(each).is_index = True

    def _one_element(self, node: ast.expr) -> None:
        """What becomes a Python number has no dimension left."""
        depth = 0
        while isinstance(node, ast.Subscript):
            parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            if not all(_is_one(each) for each in parts):
                return
            depth, node = depth + len(parts), node.value
        hint = self.hint(node)
        if hint.rank is None:
            hint.rank = depth

    def _call(self, node: ast.Call) -> None:
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
        if name in _NAMES_DIMENSIONS and receiver is not None:
            self.hint(receiver).rank = len(node.args)
        if name in ("transpose", "size") and receiver is not None:
            numbers = [each.value for each in node.args if isinstance(each, ast.Constant)]
            hint = self.hint(receiver)
            hint.least = max([hint.least, *(each + 1 for each in numbers if isinstance(each, int) and each >= 0)])
        if name == "item" and receiver is not None:
            self._one_element(receiver)
        if name in _CONVERSIONS and receiver is None and len(node.args) == 1:
            self._one_element(node.args[0])
        if name in _INDEX_ARGUMENTS:
            for each in node.args[1:] if receiver is None or len(node.args) > 1 else node.args:
                self.hint(each).is_index = True
        if name == "range":
            for each in node.args:
                self.hint(each).is_number = True


def _parts(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, (ast.Tuple, ast.List, ast.Set)) else [node]


def _is_one(index: ast.expr) -> bool:
    """Whether an index takes one dimension away, as far as it shows."""
    return isinstance(index, (ast.Constant, ast.Name, ast.BinOp)) or (
        isinstance(index, ast.UnaryOp) and isinstance(index.operand, ast.Constant)
    )


def _shape_of(node: ast.expr) -> tuple[ast.expr | None, int]:
    """Whose shape an expression is, and how many of its dimensions a slice leaves out."""
    missing = 0
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        lower, upper = node.slice.lower, node.slice.upper
        if upper is None and isinstance(lower, ast.Constant) and isinstance(lower.value, int):
            missing, node = lower.value, node.value
        elif lower is None and isinstance(upper, ast.UnaryOp) and isinstance(upper.operand, ast.Constant):
            missing, node = int(str(upper.operand.value)), node.value
    if isinstance(node, ast.Attribute) and node.attr == "shape":
        return node.value, missing
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _ASKS_FOR_SIZE:
        return (node.func.value, missing) if not node.args else (None, 0)
    return None, 0
