"""Packages that a script imports and that are not installed. They can be called for their effect, and have no value."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from xlalint.device.borders.clock import Clock
from xlalint.device.borders.known_packages import KNOWN
from xlalint.device.stubs.objects import Absent
from xlalint.slicing.definitions import NEEDS

_LETS_GO = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


class MissingPackages(MetaPathFinder, Loader):
    """Finds what nobody else does, of those names that the program imports and can't do without."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._wanted: set[str] = set()
        self.given: dict[str, None] = {}
        """Those that were stood in for."""

    def want(self, tree: ast.Module) -> None:
        """What a file imports outside of a `try` that lets it go."""
        for name in _imported(tree.body):
            needed = NEEDS.get(name)
            if needed is not None and find_spec(needed) is None:
                self._stand_in(name, needed)
            self._wanted.add(name.partition(".")[0])

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        top = name.partition(".")[0]
        beside = isinstance(sys.modules.get(top), _Package)
        if beside or (path is None and top in self._wanted and top not in sys.stdlib_module_names):
            return ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        self._tell(spec.name.partition(".")[0])
        return _Package(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        return None

    def _tell(self, name: str) -> None:
        self.given[name] = None
        self._clock.assume(f"`{name}` is not installed, and is called for its effect only")

    def _stand_in(self, name: str, needed: str) -> None:
        if name not in sys.modules:
            self._tell(needed)
            sys.modules[name] = _Package(name)


def known(name: str) -> Any:
    """What stands in for a name of a package that is not installed."""
    if name in KNOWN:
        return KNOWN[name]
    return _Package(name) if any(each.startswith(f"{name}.") for each in KNOWN) else Absent(name)


class _Package(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return known(f"{self.__name__}.{name}")


def _imported(block: list[ast.stmt]) -> Iterator[str]:
    for node in block:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Try) and any(_lets_go(each) for each in node.handlers):
            yield from _imported(node.orelse)
        else:
            for name in ("body", "orelse", "finalbody"):
                inner = getattr(node, name, None)
                yield from _imported(inner) if isinstance(inner, list) else ()


def _lets_go(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    return any(isinstance(each, ast.Name) and each.id in _LETS_GO for each in ast.walk(handler.type))
