"""Packages that a script imports and that are not installed. They can be called for their effect, and have no value."""

from __future__ import annotations

import ast
import functools
import inspect
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from xlalint.device.borders.clock import Clock
from xlalint.device.borders.known_packages import KNOWN, Logger, known_by_form
from xlalint.device.stubs.objects import Absent
from xlalint.slicing.definitions import NEEDS

_OF_TODAY = "torch_xla"
"""What it no longer has may be what is flagged."""
_WRITERS = ("torch.utils.tensorboard", "tensorboardX")
_PICTURE, _LOGS = "add_graph", "logs"
_TAKEN = frozenset({_OF_TODAY, "torch", *sys.stdlib_module_names})
"""What nothing stands in for."""
_LETS_GO = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})


Finds = Callable[[str, str], ModuleSpec | None]


class MissingPackages(MetaPathFinder, Loader):
    """Finds what nobody else does, of those names that the program imports and can't do without."""

    def __init__(self, clock: Clock, owned: Callable[[str], bool], find: Finds) -> None:
        """``owned`` tells the program's own files; ``find`` looks for a module in a folder."""
        self._clock, self._owned, self._find = clock, owned, find
        self._wanted: set[str] = set()
        self._parts_wanted: set[str] = set()
        """Names of modules, without those of the packages that they are in."""
        self.given: dict[str, None] = {}
        """Those that were stood in for."""

    def want(self, tree: ast.Module) -> None:
        """What a file imports outside of a `try` that lets it go."""
        for name in _imported(tree.body):
            needed = NEEDS.get(name)
            if needed is not None and (find_spec(needed) is None or not _can_be_imported(name)):
                self._stand_in(name, needed)
            top = name.partition(".")[0]
            if top not in sys.modules and top not in _TAKEN and self._is_of_others(top) and not _can_be_imported(top):
                self._stand_in(top, top)
            if name in _WRITERS:
                _keep_pictures_apart(name)
            self._wanted.add(name.partition(".")[0])
            self._parts_wanted.update(name.split("."))
        self._parts_wanted.update(_beside(tree.body))
        for module, name in _taken_out(tree.body):
            self._find_name(module, name)

    def _find_name(self, module: str, name: str) -> None:
        """What an installed package no longer has is stood in for."""
        top = module.partition(".")[0]
        if top in sys.stdlib_module_names or top == _OF_TODAY or not self._is_of_others(top):
            return
        try:
            found = import_module(module)
            there = hasattr(found, name) or (hasattr(found, "__path__") and find_spec(f"{module}.{name}") is not None)
        except Exception:  # the program's own import says what is wrong
            return
        if not there:
            setattr(found, name, known(f"{module}.{name}"))
            self.given[f"{module}.{name}"] = None
            self._clock.assume(f"`{module}` has no `{name}` any more, which is called for its effect only")

    def _is_of_others(self, top: str) -> bool:
        try:
            spec = find_spec(top)
        except ValueError:
            return False
        if spec is None or isinstance(sys.modules.get(top), _Package):
            return False
        return bool(spec.origin) and not self._owned(str(spec.origin))

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        top = name.partition(".")[0]
        former = self._beside_the_importer(name) if path is None and top in self._wanted else None
        if former is not None:
            self._clock.assume(f"`{name}` is imported from beside the file that asks for it, as Python 2 did")
            return former
        beside = isinstance(sys.modules.get(top), _Package) or self._is_left_out(name)
        if beside or (path is None and top in self._wanted and top not in sys.stdlib_module_names):
            return ModuleSpec(name, self, is_package=True)
        return None

    def _beside_the_importer(self, name: str) -> ModuleSpec | None:
        frame = sys._getframe(1)
        while frame is not None and not self._owned(frame.f_code.co_filename):
            frame = frame.f_back  # type: ignore[assignment]
        if frame is None or frame.f_globals.get("__name__") == "__main__":
            return None
        found = self._find(name, os.path.dirname(frame.f_code.co_filename))
        package = frame.f_globals.get("__package__")
        return ModuleSpec(name, _Alias(f"{package}.{name}")) if found is not None and package else found

    def _is_left_out(self, name: str) -> bool:
        """Whether it is of a package of the program's own, which asks for it, and is not in the checkout."""
        above, _, last = name.rpartition(".")
        file = getattr(sys.modules.get(above), "__file__", None)
        return file is not None and self._owned(file) and last in self._parts_wanted

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        self._tell(spec.name if self._is_left_out(spec.name) else spec.name.partition(".")[0])
        return _Package(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        return None

    def _tell(self, name: str) -> None:
        self.given[name] = None
        self._clock.assume(f"`{name}` is not installed, and is called for its effect only")

    def _stand_in(self, name: str, needed: str) -> None:
        if name not in sys.modules:
            self._tell(needed)
            sys.modules[name] = package = _Package(name)
            vars(package).update(__path__=[])


def _can_be_imported(name: str) -> bool:
    """Whether what is installed has all that it needs itself, in versions that fit."""
    try:
        import_module(name)
    except Exception:  # a package may raise anything
        return False
    return True


def _keep_pictures_apart(writers: str) -> None:
    """What is written goes to the scratch folder; a picture of a model is made by tracing it, which is no step of the
    program's."""
    try:
        writer = import_module(writers).SummaryWriter
    except Exception:  # the program's own import says what is wrong
        return
    setattr(writer, _PICTURE, Logger())
    make = writer.__init__
    signature = inspect.signature(make)
    _, folder, *_ = signature.parameters

    @functools.wraps(make)
    def made(self: Any, *args: Any, **kwargs: Any) -> None:
        given = signature.bind(self, *args, **kwargs)
        if given.arguments.get(folder):
            given.arguments[folder] = _LOGS
        make(*given.args, **given.kwargs)

    writer.__init__ = made


def known(name: str) -> Any:
    """What stands in for a name of a package that is not installed."""
    if name in KNOWN:
        return KNOWN[name]
    if any(each.startswith(f"{name}.") for each in KNOWN):
        return _Package(name)
    return known_by_form(name) or Absent(name)


class _Alias(Loader):
    """A module of a package, under its last name alone."""

    def __init__(self, whole: str) -> None:
        self._whole = whole

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(self._whole)
        self._own = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # The machinery of imports has put the alias there.
        module.__spec__ = self._own


class _Package(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return known(f"{self.__name__}.{name}")


def _imported(block: list[ast.stmt]) -> Iterator[str]:
    for node in _imports(block):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _beside(block: list[ast.stmt]) -> list[str]:
    """Modules of a relative import."""
    relative = [node for node in _imports(block) if isinstance(node, ast.ImportFrom) and node.level and node.module]
    return [part for node in relative for part in str(node.module).split(".")]


def _taken_out(block: list[ast.stmt]) -> list[tuple[str, str]]:
    """(module, name)"""
    taken = [node for node in _imports(block) if isinstance(node, ast.ImportFrom) and node.module and not node.level]
    return [(str(node.module), alias.name) for node in taken for alias in node.names if alias.name != "*"]


def _imports(block: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """Those that nothing lets go."""
    for node in block:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield node
        elif isinstance(node, ast.Try) and any(_lets_go(each) for each in node.handlers):
            yield from _imports(node.orelse)
        else:
            for name in ("body", "orelse", "finalbody"):
                inner = getattr(node, name, None)
                yield from _imports(inner) if isinstance(inner, list) else ()


def parts(value: Any, count: int) -> Any:
    """What is unpacked: of what could not be had, each part is that."""
    return [value] * count if isinstance(value, Absent) else value


def _lets_go(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    return any(isinstance(each, ast.Name) and each.id in _LETS_GO for each in ast.walk(handler.type))
