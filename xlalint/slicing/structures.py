"""What names that hold several values are taken apart into: by loops, by unpacking, by keys."""

from __future__ import annotations

import ast
from collections.abc import Mapping

KEYS, SPREAD, ROWS = "[]", "**", "zip"
"""Before the names: they are keys of a mapping, of one that is handed on as it is, or parts of each of many rows."""
_PASSED_ON = 1


def structures(blocks: list[ast.stmt], spread: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """By path, the names of the parts, with ``KEYS``, ``SPREAD`` or ``ROWS`` before them where they are.

    ``for step, (x, y) in enumerate(loader)`` and ``x, y = batch`` tell the parts of ``loader`` and ``batch``, and
    ``spread`` the keys of what is handed on as keywords.
    """
    nodes = [node for block in blocks for node in ast.walk(block)]
    bound = {ast.unparse(each) for node in nodes if isinstance(node, ast.Assign) for each in node.targets}
    found = {path: (KEYS if path in bound else SPREAD, *keys) for path, keys in spread.items()}
    for node in nodes:
        if isinstance(node, (ast.For, ast.comprehension)):
            _loop(node.iter, node.target, found)
        elif isinstance(node, ast.Assign) and isinstance(node.value, (ast.Name, ast.Attribute)):
            _put(ast.unparse(node.value), node.targets[0], found)
        elif isinstance(node, ast.Assign):
            _unpacked_call(node, found)
    for node in nodes:
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.slice, ast.Constant)
            and isinstance(node.slice.value, str)
        ):
            path = ast.unparse(node.value)
            keys = found.get(path, (KEYS,))
            if keys[0] in (KEYS, SPREAD) and node.slice.value not in keys:
                found[path] = (*keys, node.slice.value)
    return _through_loops(blocks, found)


def _loop(iterated: ast.expr, target: ast.expr, found: dict[str, tuple[str, ...]]) -> None:
    if isinstance(iterated, ast.Call) and ast.unparse(iterated.func) == "zip" and isinstance(target, ast.Tuple):
        for each, part in zip(iterated.args, target.elts, strict=False):
            _loop(each, part, found)
        return
    path, target = _source(iterated, target)
    if path is not None:
        _put(path, target, found)


def _source(iterated: ast.expr, target: ast.expr) -> tuple[str | None, ast.expr]:
    """What a loop takes its items from, through `enumerate`, progress bars and the like."""
    while isinstance(iterated, ast.Call) and iterated.args:
        name = ast.unparse(iterated.func).rpartition(".")[2]
        if name == "enumerate" and isinstance(target, ast.Tuple) and len(target.elts) == 2:
            target = target.elts[_PASSED_ON]
        iterated = iterated.args[0]
    if isinstance(iterated, (ast.Name, ast.Attribute)):
        return ast.unparse(iterated), target
    return None, target


def _unpacked_call(node: ast.Assign, found: dict[str, tuple[str, ...]]) -> None:
    """``x, y = next(it)`` and ``x, y = zip(*rows)``."""
    call = node.value
    if isinstance(call, ast.Call) and call.args:
        name, first = ast.unparse(call.func), call.args[0]
        if name == "zip" and isinstance(first, ast.Starred):
            _put(ast.unparse(first.value), node.targets[0], found, ROWS)
        elif name == "next":
            _put(ast.unparse(first), node.targets[0], found)


def _put(path: str, target: ast.expr, found: dict[str, tuple[str, ...]], *kind: str) -> None:
    if isinstance(target, (ast.Tuple, ast.List)):
        found.setdefault(path, (*kind, *(ast.unparse(each) for each in target.elts)))


def _through_loops(blocks: list[ast.stmt], found: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """``for batch in loader: x, y = batch`` tells the parts of ``loader`` too."""
    for block in blocks:
        for node in ast.walk(block):
            if isinstance(node, (ast.For, ast.comprehension)):
                path, target = _source(node.iter, node.target)
                if path is not None and isinstance(target, ast.Name) and target.id in found:
                    found.setdefault(path, found[target.id])
    return found
