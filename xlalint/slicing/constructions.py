"""How a class makes one of its modules, told so that it can be made by itself, with small sizes."""

from __future__ import annotations

import ast
import copy

from xlalint.slicing.dependence import path_of
from xlalint.slicing.syntax_tree import Scope, SyntaxTree

_MOST_NAMES = 8
"""Local names that are put in place of each other, one after another."""


def construction(tree: SyntaxTree, scope: Scope, path: str) -> ast.Lambda | None:
    """The expression that ``path`` (``self.head``) is set to in its class, as a function of what it takes from there.

    Its parameters are ``self`` and those of ``__init__``, as far as they are used. None where it is set more than
    once, or by something that no single expression tells.
    """
    owner = tree.owner(scope)
    methods = owner.body if owner is not None else []
    made_in = next((each for each in methods if isinstance(each, ast.FunctionDef) and each.name == "__init__"), None)
    if made_in is None:
        return None
    values = _values_of(made_in, path)
    if len(values) != 1 or not isinstance(values[0], ast.Call):
        return None
    body = _in_place(values[0], made_in)
    given = {each.arg for each in (*made_in.args.args, *made_in.args.kwonlyargs)}
    used = sorted(given & {each.id for each in ast.walk(body) if isinstance(each, ast.Name)})
    arguments = [ast.arg(name) for name in used]
    signature = ast.arguments(posonlyargs=[], args=arguments, kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.Lambda(signature, body)


def _values_of(function: ast.FunctionDef, path: str) -> list[ast.expr]:
    return [
        node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and any(path_of(target) == path for target in node.targets)
    ]


def _in_place(value: ast.expr, function: ast.FunctionDef) -> ast.expr:
    """``value`` with the local names of ``function`` replaced by what they are set to, where that is one thing."""
    for _ in range(_MOST_NAMES):
        names = {each.id for each in ast.walk(value) if isinstance(each, ast.Name)}
        known = {
            name: found[0]
            for name in names
            if len(found := _values_of(function, name)) == 1 and name not in ast.unparse(found[0])
        }
        if not known:
            break
        value = _Replaced(known).visit(copy.deepcopy(value))
    return copy.deepcopy(value)


class _Replaced(ast.NodeTransformer):
    def __init__(self, known: dict[str, ast.expr]) -> None:
        self.known = known

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return copy.deepcopy(self.known[node.id]) if node.id in self.known else node
