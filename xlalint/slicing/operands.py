"""What a flagged place asks the device for, where that is a plain name."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from xlalint.slicing.dependence import path_of

_NAMESPACES = frozenset({"torch", "torch.nn.functional", "F", "nn.functional", "np", "numpy", "math"})
"""What functions are called of: no operand."""


def operands(node: ast.expr | ast.stmt, truth: bool) -> tuple[str, ...]:
    """The dotted names that a place works on; none where it works on something computed in it.

    With ``truth`` the place itself is asked: a comparison computes, a name does not.
    """
    if isinstance(node, ast.stmt) or (truth and not isinstance(node, (ast.Name, ast.Attribute))):
        return ()
    paths: list[str] = []
    for each in [node] if truth else _children(node):
        if isinstance(each, ast.Constant):
            continue
        path = path_of(each) if isinstance(each, (ast.Name, ast.Attribute)) else None
        if path is None:
            return ()
        paths.append(path)
    return tuple(dict.fromkeys(paths))


def _children(node: ast.expr) -> Iterator[ast.AST]:
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and path_of(node.func.value) not in _NAMESPACES:
            yield node.func.value
        yield from node.args
    elif isinstance(node, (ast.Name, ast.Attribute)):
        yield node
    else:
        yield from (each for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr))
