"""What a slice takes from the rest of its file: imports that can be had, functions, classes, constants."""

from __future__ import annotations

import ast
import builtins
import copy
import sys
from dataclasses import dataclass

from xlalint.edits.neutral import ACTORS
from xlalint.edits.places import Places

_AVAILABLE = frozenset({"torch", "torch_xla", "numpy"})
"""What comes with the device, besides the standard library. Nothing else is imported: it may do anything."""
_BUILTINS = frozenset(dir(builtins))
_HIDDEN = (ast.If, ast.Try)


@dataclass(frozen=True)
class Definitions:
    """``block`` in the order of the file; ``given`` are the names it binds, ``absent`` those among them that can't
    be had, with where they are from."""

    block: list[ast.stmt]
    given: frozenset[str]
    absent: dict[str, str]


class Names:
    """The names of one module, by what binds them."""

    def __init__(self, places: Places) -> None:
        self.by_name: dict[str, ast.stmt] = {}
        self._collect(places.tree.body if places.tree is not None else [])

    def _collect(self, block: list[ast.stmt]) -> None:
        for node in block:
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                for alias in node.names:
                    self.by_name.setdefault((alias.asname or alias.name).partition(".")[0], node)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                self.by_name[node.name] = node
            elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    if isinstance(target, ast.Name):
                        self.by_name.setdefault(target.id, node)
            elif isinstance(node, _HIDDEN):
                self._collect([*node.body, *node.orelse, *getattr(node, "finalbody", [])])

    def needed_by(self, wanted: set[str]) -> Definitions:
        """The definitions of ``wanted``, and what they need themselves."""
        chosen: dict[ast.stmt, set[str]] = {}
        waiting = sorted(wanted)
        seen: set[str] = set()
        while waiting:
            name = waiting.pop()
            node = self.by_name.get(name)
            if name in seen or node is None:
                continue
            seen.add(name)
            chosen.setdefault(node, set()).add(name)
            if not isinstance(node, (ast.Import, ast.ImportFrom)):
                bare = _without_annotations(copy.deepcopy(node))
                waiting.extend(loaded(bare) - seen)
        block: list[ast.stmt] = []
        absent: dict[str, str] = {}
        for node in sorted(chosen, key=_imports_first):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                block.extend(_imported(node, chosen[node], absent))
            else:
                block.append(_without_annotations(copy.deepcopy(node)))
        return Definitions(block, frozenset(seen), absent)


def loaded(node: ast.AST) -> set[str]:
    """The names that are read anywhere in a node, but for builtins."""
    names = (each for each in ast.walk(node) if isinstance(each, ast.Name))
    return {each.id for each in names if isinstance(each.ctx, ast.Load)} - _BUILTINS


def is_builtin(name: str) -> bool:
    return name in _BUILTINS


def _imports_first(node: ast.stmt) -> tuple[bool, int]:
    return (not isinstance(node, (ast.Import, ast.ImportFrom)), node.lineno)


def _imported(node: ast.Import | ast.ImportFrom, names: set[str], absent: dict[str, str]) -> list[ast.stmt]:
    found: list[ast.stmt] = []
    for alias in node.names:
        name = (alias.asname or alias.name).partition(".")[0]
        if name not in names:
            continue
        module = (node.module or "") if isinstance(node, ast.ImportFrom) else alias.name
        relative = isinstance(node, ast.ImportFrom) and node.level > 0
        top = module.partition(".")[0]
        if not relative and (top in _AVAILABLE or top in sys.stdlib_module_names):
            single = copy.copy(node)
            single.names = [alias]
            found.append(single)
        else:
            absent[name] = f"{'.' * getattr(node, 'level', 0)}{module}" or "its package"
            made = ast.Call(ast.Attribute(ast.Name(ACTORS, ast.Load()), "Absent", ast.Load()), [ast.Constant(name)], [])
            found.append(ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], made), node))
    return found


class _Annotations(ast.NodeTransformer):
    """Annotations of functions say nothing to the device, and may name what can't be had."""

    def visit_arg(self, node: ast.arg) -> ast.arg:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.returns = None
        self.generic_visit(node)
        return node


def _without_annotations(node: ast.stmt) -> ast.stmt:
    new: ast.stmt = _Annotations().visit(node)
    return new
