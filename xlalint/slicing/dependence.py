"""What a statement reads and what it changes, by dotted path: ``loss``, ``self.history``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
GRADIENTS = "%gradients"
"""The path of what a backward pass leaves in the parameters, whoever they belong to."""
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


def path_of(node: ast.AST) -> str | None:
    """``a.b.c`` as text, also of ``a.b.c[i]``; None where a value is computed first."""
    while isinstance(node, (ast.Subscript, ast.Starred)):
        node = node.value
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        inner = path_of(node.value)
        return f"{inner}.{node.attr}" if inner is not None else None
    return None


def heads(statement: ast.stmt) -> Iterator[ast.AST]:
    """The parts of a statement without its blocks."""
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        # What is added to is read too.
        yield ast.Name(statement.target.id, ast.Load())
    for name, value in ast.iter_fields(statement):
        if name in BLOCKS and not isinstance(statement, NESTED):
            continue
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, ast.AST):
                yield each


def reads(nodes: Iterator[ast.AST]) -> set[str]:
    """The longest paths that are read."""
    found: set[str] = set()
    waiting = list(nodes)
    while waiting:
        node = waiting.pop()
        path = path_of(node) if isinstance(node, (ast.Name, ast.Attribute)) else None
        if path is None:
            waiting.extend(ast.iter_child_nodes(node))
        elif not isinstance(getattr(node, "ctx", None), ast.Store) or isinstance(node, ast.Attribute):
            found.add(path)
    return found


def writes(statement: ast.stmt) -> set[str]:
    """The paths that a statement binds or changes: targets, and what a method is called on for its effect."""
    targets: list[ast.AST] = []
    if isinstance(statement, ast.Assign):
        targets = list(statement.targets)
    elif isinstance(statement, (ast.AugAssign, ast.AnnAssign, ast.For, ast.AsyncFor)):
        targets = [statement.target]
    elif isinstance(statement, (ast.With, ast.AsyncWith)):
        targets = [item.optional_vars for item in statement.items if item.optional_vars is not None]
    elif isinstance(statement, NESTED):
        return {statement.name}
    elif isinstance(statement, (ast.Import, ast.ImportFrom)):
        return {(alias.asname or alias.name).partition(".")[0] for alias in statement.names}
    found = {path for target in targets for path in _bound_paths(target)}
    found |= {node.target.id for head in heads(statement) for node in ast.walk(head) if isinstance(node, ast.NamedExpr)}
    return found | _changed(statement)


def _bound_paths(target: ast.AST) -> Iterator[str]:
    if isinstance(target, (ast.Tuple, ast.List)):
        for each in target.elts:
            yield from _bound_paths(each)
    elif (path := path_of(target)) is not None:
        yield path


def _changed(statement: ast.stmt) -> set[str]:
    """``a.b.append(x)`` changes ``a.b``, and ``a.backward()`` the gradients, too; a method of ``self`` is called for
    something else."""
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return set()
    called = statement.value.func
    if not isinstance(called, ast.Attribute):
        return set()
    path = path_of(called.value)
    found = {path} if path not in (None, "self") and path is not None else set()
    return found | {GRADIENTS} if called.attr == "backward" else found


def touches(written: str, needed: set[str]) -> bool:
    """Whether a change of one path is seen by who reads the others."""
    return any(written == path or path.startswith(f"{written}.") or written.startswith(f"{path}.") for path in needed)
