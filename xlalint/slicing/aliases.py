"""Names that are only other names for something: ``logits = outputs.logits``."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from xlalint.slicing.dependence import path_of


def aliases(blocks: Iterable[ast.stmt]) -> dict[str, str]:
    """The dotted path that each name stands for, of those that ``blocks`` set once and to nothing but a path."""
    nodes = [node for block in blocks for node in ast.walk(block)]
    stored = Counter(node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    pairs = (pair for node in nodes if isinstance(node, ast.Assign) for pair in _pairs(node))
    found = {
        target.id: path
        for target, value in pairs
        if isinstance(target, ast.Name) and stored[target.id] == 1
        for path in [path_of(value) if isinstance(value, (ast.Name, ast.Attribute)) else None]
        if path is not None and path.partition(".")[0] != target.id
    }
    return {name: resolved(path, found) for name, path in found.items()}


def origins_of_parts(blocks: Iterable[ast.stmt]) -> dict[str, str]:
    """As ``aliases``, and what is taken out of something: by an index, by a loop, by taking it apart."""
    nodes = [node for block in blocks for node in ast.walk(block)]
    stored = Counter(node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    found: dict[str, str] = {}
    for node in nodes:
        for target, value in _pairs_of_node(node):
            path = path_of(value)
            for name in ast.walk(target):
                if path is not None and isinstance(name, ast.Name) and stored[name.id] == 1:
                    found[name.id] = path
    return {name: resolved(path, found) for name, path in found.items()}


def resolved(path: str, known: Mapping[str, str]) -> str:
    """``path`` with the name that it begins with replaced by what that stands for, as long as it does."""
    seen: set[str] = set()
    head, dot, rest = path.partition(".")
    while head in known and head not in seen:
        seen.add(head)
        path = f"{known[head]}{dot}{rest}"
        head, dot, rest = path.partition(".")
    return path


def _pairs(node: ast.Assign) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What is assigned to what, also side by side in tuples."""
    target = node.targets[0]
    if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple) and len(node.value.elts) == len(target.elts):
        yield from zip(target.elts, node.value.elts, strict=True)
    elif len(node.targets) == 1:
        yield target, node.value


def _pairs_of_node(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    if isinstance(node, ast.Assign):
        yield from _pairs(node)
    elif isinstance(node, (ast.For, ast.comprehension)):
        yield from _of_loop(node.target, node.iter)


def _of_loop(target: ast.expr, iterated: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """A loop over the stub of steps, over `enumerate` or `zip` gives parts of what these are given."""
    if not isinstance(iterated, ast.Call):
        yield target, iterated
        return
    name = ast.unparse(iterated.func).rpartition(".")[2]
    if name == "zip" and isinstance(target, ast.Tuple):
        for each, part in zip(target.elts, iterated.args, strict=False):
            yield from _of_loop(each, part)
    elif name == "enumerate" and isinstance(target, ast.Tuple) and len(target.elts) == 2 and iterated.args:
        yield from _of_loop(target.elts[1], iterated.args[0])
    elif name in ("steps", "once") and iterated.args:
        yield from _of_loop(target, iterated.args[0])
