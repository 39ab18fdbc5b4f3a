"""What a slice takes from the rest of its file: imports that can be had, functions, classes, constants."""

from __future__ import annotations

import ast
import builtins
import copy
import importlib.util
import os
import re
import sys
from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass
from threading import Lock
from types import MappingProxyType

from xlalint.slicing.dependence import path_of
from xlalint.slicing.instrumentation import stub_call
from xlalint.slicing.syntax_tree import SyntaxTree

_AVAILABLE = frozenset({"torch", "torch_xla", "numpy"})
"""What comes with the device, besides the standard library."""
_MEASURED = frozenset({"torchmetrics"})
"""Packages whose classes rules know by what was measured of them: imported where they are installed, as are those whose
own source costs. Nothing else is imported, for it may do anything."""
NEEDS = MappingProxyType({"torch.utils.tensorboard": "tensorboard"})
"""Modules of what is available that need a package which may not be."""
_BUILTINS = frozenset(dir(builtins))
_HIDDEN = (ast.If, ast.Try)
_SETS_UP = frozenset(
    {
        *("to", "cuda", "cpu", "eval", "train", "half", "float", "bfloat16"),
        *("add_argument", "set_defaults", "append", "extend", "update", "add", "setdefault"),
    }
)
"""Methods that are called to set an object up, and do nothing else."""


_ASKS_FOR_PACKAGE = re.compile(r"_*is_(\w+)_available")
"""How libraries name the functions that tell whether a package is installed."""
_MOST = 60
"""Definitions of other files that a program may hold: who needs more needs the whole package."""

Resolve = Callable[[str, str], "tuple[str, str] | None"]
"""A file and a name in it → the file of the same run that defines it, and its name there."""


@dataclass(frozen=True)
class Definitions:
    """``imports`` and ``elsewhere`` are of any file, ``block`` of this one, in its order; ``given`` are the names
    that they bind, ``absent`` those among them that can't be had, with where they are from."""

    imports: list[ast.stmt]
    elsewhere: list[ast.stmt]
    block: list[ast.stmt]
    given: frozenset[str]
    absent: dict[str, str]


class Names:
    """The names of one module, by what binds them."""

    def __init__(self, tree: SyntaxTree) -> None:
        self.path = tree.path
        self.by_name: dict[str, ast.stmt] = {}
        self.changes: dict[str, list[ast.stmt]] = {}
        """What else is done at the top of the file to what a name stands for."""
        self.has_star = False
        """Whether a name may come from an import that names none."""
        self._collect(tree.module.body if tree.module is not None else [])

    def _collect(self, block: list[ast.stmt], always: bool = True) -> None:
        for node in block:
            if always:
                self._note_change(node)
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                for alias in node.names:
                    self.has_star |= alias.name == "*"
                    self.by_name.setdefault((alias.asname or alias.name).partition(".")[0], node)
            elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                self.by_name[node.name] = node
            elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    if isinstance(target, ast.Name):
                        self.by_name.setdefault(target.id, node)
            elif isinstance(node, _HIDDEN):
                self._collect([*node.body, *node.orelse, *getattr(node, "finalbody", [])], always=False)

    def _note_change(self, node: ast.stmt) -> None:
        """A name that is bound anew, an attribute that is set, a method that sets something up."""
        paths: list[str | None] = []
        if isinstance(node, ast.Assign):
            paths = [path_of(each) for each in node.targets if _is_bound(each, self.by_name)]
        elif isinstance(node, ast.AugAssign):
            paths = [path_of(node.target)]
        elif isinstance(node, ast.Expr):
            paths = [_set_up(node.value)]
        for path in paths:
            if path is not None:
                self.changes.setdefault(path.partition(".")[0], []).append(node)


def _is_bound(target: ast.expr, names: Container[str]) -> bool:
    return isinstance(target, ast.Attribute) or (isinstance(target, ast.Name) and target.id in names)


def _set_up(node: ast.expr) -> str | None:
    """What ``model.to(device)`` and the like change."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "setattr" and node.args:
        return path_of(node.args[0])
    called = node.func if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
    return path_of(called.value) if called is not None and called.attr in _SETS_UP else None


class Modules:
    """The files of a run, read as they are asked for. ``packages`` are those that its findings are about."""

    def __init__(
        self, resolve: Resolve, read: Callable[[str], SyntaxTree | None], packages: frozenset[str] = frozenset()
    ) -> None:
        self._resolve, self._read = resolve, read
        self._packages = packages
        self.reading = Lock()
        """Held by who reads trees: findings are run side by side."""
        self._names: dict[str, Names] = {}

    def is_available(self, module: str) -> bool:
        """Whether a program may import a module: by its top-level name, and by what that needs."""
        package, needed = module.partition(".")[0], NEEDS.get(module)
        if needed is not None and importlib.util.find_spec(needed) is None:
            return False
        if package in _MEASURED or package in self._packages:
            return importlib.util.find_spec(package) is not None
        return package in _AVAILABLE or package in sys.stdlib_module_names

    def names(self, tree: SyntaxTree) -> Names:
        path = os.path.abspath(tree.path)
        if path not in self._names:
            self._names[path] = Names(tree)
        return self._names[path]

    def origin(self, path: str, name: str) -> tuple[Names, str] | None:
        """Where a name that a file imports is defined, if that is another file of the run."""
        found = self._resolve(path, name)
        if found is None:
            return None
        if found[0] not in self._names:
            tree = self._read(found[0])
            if tree is None:
                return None
            self.names(tree)
        names = self._names[found[0]]
        return (names, found[1]) if found[1] in names.by_name else None


class Taking:
    """Collects the definitions that a slice needs, and those that these need, from its own file and from others."""

    def __init__(self, modules: Modules, tree: SyntaxTree, changed: bool = True) -> None:
        """``changed``: what is done to names at the top of a file is taken too."""
        self._modules, self._changed = modules, changed
        self._own = modules.names(tree)
        self._bound: dict[str, ast.stmt] = {}
        self._taken: dict[Names, list[ast.stmt]] = {}
        self._origins: dict[Names, dict[Names, None]] = {}
        """File → those whose definitions it imports."""
        self._imports: list[ast.stmt] = []
        self._absent: dict[str, str] = {}

    def of(self, wanted: set[str]) -> Definitions:
        # What is changed of torch is changed for who does not name it.
        patched = self._own.changes.keys() & _AVAILABLE if self._changed else set()
        waiting = [(self._own, name) for name in sorted(wanted | patched)]
        while waiting:
            names, name = waiting.pop()
            node = names.by_name.get(name)
            if node is None and names.has_star:
                waiting += self._from_star(names, name)
            if node is None or name in self._bound:
                continue
            self._bound[name] = node
            asked = _ASKS_FOR_PACKAGE.fullmatch(name)
            if asked is not None:
                self._imports.append(_assignment(name, _constant_function(asked[1] in _AVAILABLE), node))
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                waiting += self._imported(names, node, name)
            else:
                waiting += [(names, each) for each in self._defined(names, node)]
            for change in names.changes.get(name, ()) if self._changed else ():
                waiting += [(names, each) for each in self._defined(names, change)]
        others = [each for names in self._in_order(self._own, set()) for each in self._block(names)]
        own = self._block(self._own)
        return Definitions(self._imports, others, own, frozenset(self._bound), self._absent)

    def _block(self, names: Names) -> list[ast.stmt]:
        """In the order of the file."""
        return sorted(self._taken.get(names, []), key=lambda node: node.lineno)

    def _in_order(self, names: Names, seen: set[Names]) -> Iterator[Names]:
        """The other files, each after those that it imports from."""
        seen.add(names)
        for origin in self._origins.get(names, ()):
            if origin not in seen:
                yield from self._in_order(origin, seen)
        if names is not self._own:
            yield names

    def _defined(self, names: Names, node: ast.stmt) -> set[str]:
        """Take a definition; what it needs. One that binds several names is taken once."""
        block = self._taken.setdefault(names, [])
        new = _without_annotations(copy.deepcopy(node))
        if all(each.lineno != new.lineno for each in block):
            block.append(new)
        return loaded(new)

    def _imported(self, names: Names, node: ast.Import | ast.ImportFrom, name: str) -> list[tuple[Names, str]]:
        """Take an import as it is, or what it imports from a file of the run, or a stand-in; what is needed then."""
        alias = next(each for each in node.names if (each.asname or each.name).partition(".")[0] == name)
        module = (node.module or "") if isinstance(node, ast.ImportFrom) else alias.name
        relative = isinstance(node, ast.ImportFrom) and node.level > 0
        if not relative and self._modules.is_available(module):
            single = copy.copy(node)
            single.names = [alias]
            self._imports.append(single)
            return []
        found = self._modules.origin(names.path, name)
        if found is not None and self._has_room(*found, name):
            origin, there = found
            self._origins.setdefault(names, {})[origin] = None
            if there != name:
                self._taken.setdefault(names, []).append(_assignment(name, ast.Name(there, ast.Load()), node))
            else:
                del self._bound[name]
            return [(origin, there)]
        self._absent[name] = f"{'.' * getattr(node, 'level', 0)}{module}" or "its package"
        made = stub_call("Absent", ast.Constant(name))
        self._imports.append(_assignment(name, made, node))
        return []

    def _from_star(self, names: Names, name: str) -> list[tuple[Names, str]]:
        """Where a name is defined that an import of all names brings, if that is another file of the run."""
        found = self._modules.origin(names.path, name) if not is_builtin(name) else None
        if found is None or found[1] != name or not self._has_room(*found, name):
            return []
        self._origins.setdefault(names, {})[found[0]] = None
        return [found]

    def _has_room(self, origin: Names, there: str, name: str) -> bool:
        """Whether a definition can stand in the program beside what is there under its name."""
        taken = sum(len(block) for names, block in self._taken.items() if names is not self._own)
        beside = self._bound.get(there) if there != name else None
        return taken < _MOST and beside in (None, origin.by_name[there]) and origin is not self._own


def _constant_function(value: bool) -> ast.expr:
    return ast.parse(f"lambda *_, **__: {value}", mode="eval").body


def _assignment(name: str, value: ast.expr, at: ast.stmt) -> ast.stmt:
    return ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], value), at)


def loaded(node: ast.AST) -> set[str]:
    """The names that are read anywhere in a node, but for builtins."""
    names = (each for each in ast.walk(node) if isinstance(each, ast.Name))
    return {each.id for each in names if isinstance(each.ctx, ast.Load)} - _BUILTINS


def is_builtin(name: str) -> bool:
    return name in _BUILTINS


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
