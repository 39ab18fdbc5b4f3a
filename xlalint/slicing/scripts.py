"""The scripts of a project, and the files that each of them imports, by the names in their import statements."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

import msgspec

from xlalint.program.main_blocks import is_main_guard
from xlalint.slicing.syntax_tree import plain_tree
from xlalint.sources.read import decode, read_bytes
from xlalint.sources.source import Unreadable

_XLA = "torch_xla"
_MOST_FILES = 4000
_MOST_SCRIPTS = 3
_SKIPPED = frozenset({"__pycache__", "node_modules", "site-packages", "build", "dist"})
_TRAINS = ("train", "main", "finetune", "pretrain", "run")
_OTHERS = ("test", "setup", "conftest", "convert", "export", "download", "preprocess", "plot", "demo")


class _File(msgspec.Struct, frozen=True):
    path: str
    imports: frozenset[str]
    """Real paths of the files that it imports."""
    is_script: bool
    uses_xla: bool


class Scripts:
    """``folders`` are searched; what is imported is looked for beside the file that imports it, and in them."""

    def __init__(self, folders: Sequence[str]) -> None:
        self._folders = [os.path.realpath(each) for each in folders if os.path.isdir(each)]

    def leading_to(self, path: str) -> list[str]:
        """The scripts that run a file: itself, or those that import it; the likeliest first."""
        wanted = os.path.realpath(path)
        distances = self._distances(wanted)
        found = [each for each in distances if self._files[each].is_script]
        return sorted(found, key=lambda each: (_rank(each), distances[each], each))[:_MOST_SCRIPTS]

    def run_by(self, script: str) -> list[str]:
        """The script, and the files that it imports, also through others; empty where it can't be read."""
        seen: dict[str, None] = {}
        waiting = [os.path.realpath(script)]
        while waiting:
            path = waiting.pop(0)
            if path not in seen and path in self._files:
                seen[path] = None
                waiting += sorted(self._files[path].imports)
        return list(seen)

    def use_xla(self, script: str) -> bool:
        """Whether a script, or a file that it imports, imports torch_xla."""
        return any(self._files[path].uses_xla for path in self.run_by(script))

    def _distances(self, wanted: str) -> dict[str, int]:
        """How many imports lie between each file and the wanted one."""
        found = {wanted: 0} if wanted in self._files else {}
        waiting = list(found)
        while waiting:
            path = waiting.pop(0)
            for importer in self._importers.get(path, ()):
                if importer not in found:
                    found[importer] = found[path] + 1
                    waiting.append(importer)
        return found

    @cached_property
    def _importers(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for each in self._files.values():
            for imported in each.imports:
                found.setdefault(imported, []).append(each.path)
        return found

    @cached_property
    def _files(self) -> dict[str, _File]:
        paths = sorted({path for folder in self._folders for path in _python_files(folder)})
        known = frozenset(paths)
        return {path: file for path in paths if (file := self._file(path, known)) is not None}

    def _file(self, path: str, known: frozenset[str]) -> _File | None:
        try:
            tree = plain_tree("\n".join(decode(read_bytes(Path(path)), path).lines()))
        except Unreadable:
            return None
        if tree is None:
            return None
        names = {name for node in ast.walk(tree) for name in _imported(node)}
        imports = {found for name in names for found in self._found(path, *name) if found in known and found != path}
        uses_xla = any(name.partition(".")[0] == _XLA for level, name in names if not level)
        return _File(path, frozenset(imports), is_script(tree), uses_xla)

    def _found(self, path: str, level: int, name: str) -> Iterator[str]:
        """The files that a name may be, of which there is at most one in each folder."""
        folder = os.path.dirname(path)
        if level:
            folders = [os.path.abspath(os.path.join(folder, *[".."] * (level - 1)))]
        else:
            folders = [folder, *self._folders]
        for each in dict.fromkeys(folders):
            base = os.path.join(each, *name.split(".")) if name else each
            yield f"{base}.py"
            yield os.path.join(base, "__init__.py")


def is_script(tree: ast.Module) -> bool:
    """Whether a file does something when it is run: under its guard, in a loop, or by a call of its own function."""
    functions = {each.name for each in tree.body if isinstance(each, ast.FunctionDef)}
    for node in tree.body:
        if isinstance(node, (ast.For, ast.While)) or (isinstance(node, ast.If) and is_main_guard(node.test)):
            return True
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            called = node.value.func
            if isinstance(called, ast.Name) and called.id in functions:
                return True
    return False


def _imported(node: ast.AST) -> Iterable[tuple[int, str]]:
    """(dots, name); what is imported out of a package may be a file of it."""
    if isinstance(node, ast.Import):
        return [(0, alias.name) for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        module = node.module or ""
        inside = [f"{module}.{alias.name}" if module else alias.name for alias in node.names]
        return [(node.level, each) for each in (module, *inside)]
    return []


def _rank(path: str) -> int:
    name = os.path.basename(path).lower()
    if any(word in name for word in _OTHERS):
        return 2
    return 0 if any(word in name for word in _TRAINS) else 1


def _python_files(folder: str) -> Iterator[str]:
    count = 0
    for above, names, files in os.walk(folder):
        names[:] = [each for each in names if each not in _SKIPPED and not each.startswith(".")]
        for name in files:
            if name.endswith(".py"):
                count += 1
                yield os.path.join(above, name)
        if count > _MOST_FILES:
            return
