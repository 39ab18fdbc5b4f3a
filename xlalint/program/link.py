"""Modules → ``Program``: names across files, classes and their bases. Reads no text itself.

Names are resolved lazily to the file that defines them. A package's ``__init__`` is read for its own import lines
only, never by loading what it imports.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Protocol, TypeAlias

import msgspec

from xlalint.program import ir
from xlalint.program.package_scripts import imports_from, inner_folders
from xlalint.sources import observed

EXTERNAL = frozenset(sys.stdlib_module_names) | frozenset(
    {"torch", "torch_xla", "numpy", "scipy", "pandas", "PIL", "tqdm", "einops", "jax", "tensorflow", "triton", "cv2"}
)
"""Top-level names that are never looked for among the linted files, even where a file shadows them."""


INSTALLED = frozenset({"site-packages", "dist-packages"})
MAX_STARS = 40
"""Star imports of one file beyond which none is followed: such a file re-exports a whole package."""


class External(msgspec.Struct, frozen=True):
    """A dotted name outside the program."""

    name: str


class GlobalName(msgspec.Struct, frozen=True, eq=False):
    """A top-level variable of a module."""

    module: ir.ModuleIR
    name: str


Symbol: TypeAlias = ir.FunctionIR | ir.ClassIR | ir.ModuleIR | GlobalName | External
Base: TypeAlias = ir.ClassIR | str


def source_root(path: str) -> str:
    """The folder that ``path``'s top-level package or script stands in. A folder without ``__init__`` within a package
    is a part of it."""
    root = folder = os.path.dirname(os.path.abspath(path))
    outside = 0
    while outside <= MOST_PORTIONS and (parent := os.path.dirname(folder)) != folder:
        if observed.exists(os.path.join(folder, "__init__.py")):
            root, outside = parent, 0
        else:
            outside += 1
        folder = parent
    return root


def source_roots(paths: Iterable[str]) -> dict[str, str]:
    """The same of several files; each folder is looked at once."""
    by_folder: dict[str, str] = {}
    found = {}
    for path in paths:
        folder = os.path.dirname(path)
        if folder not in by_folder:
            by_folder[folder] = source_root(path)
        found[path] = by_folder[folder]
    return found


MOST_PORTIONS = 2
"""Folders without ``__init__``, one in the other, above which a package is still looked for."""


def import_roots(roots: Iterable[str]) -> frozenset[str]:
    """The folders that imports may start from: those of the files, and those between them and what they have in
    common, for a folder without ``__init__`` is a package, too."""
    found = set(roots)
    common = shared_folder(found)
    for root in tuple(found):
        while common and root != common:
            root = os.path.dirname(root)
            found.add(root)
    return frozenset(found)


def shared_folder(folders: Collection[str]) -> str:
    try:
        return os.path.commonpath(folders)
    except ValueError:  # none, or of several drives
        return ""


def above(root: str, levels: int) -> str:
    for _ in range(levels):
        root = os.path.dirname(root)
    return root


def dotted_name(path: str, root: str) -> tuple[str, str]:
    """Module name and package of a file below its source root."""
    relative = os.path.relpath(os.path.abspath(path), root)
    name = os.path.splitext(relative)[0].replace(os.sep, ".")
    if name == "__init__" or name.endswith(".__init__"):
        package = name[: -len(".__init__")] if "." in name else ""
        return package, package
    return name, name.rpartition(".")[0]


def relative(package: str, level: int, name: str) -> str:
    """What a file of a package means by a name behind ``level`` dots. Dots are left in front of it where it leads above
    the folder that imports start from: the folders there are packages without ``__init__``."""
    parts = package.split(".") if package else []
    over = max(level - 1 - len(parts), 0)
    parts = parts[: max(len(parts) - level + 1, 0)]
    return "." * over + ".".join([*parts, name] if name else parts)


def beneath(origin: str, name: str) -> str:
    """The dotted name of what is imported from ``origin``."""
    return f"{origin}.{name}" if origin.strip(".") else f"{origin}{name}"


def is_fallback(expressions: tuple[ir.Expr, ...]) -> bool:
    """``except ImportError: name = None``."""
    return bool(expressions) and all(isinstance(e, ir.Constant) and e.value in (None, False) for e in expressions)


def names(package: ir.ModuleIR, name: str) -> bool:
    """Whether a package gives a name of its own that hides its module of the same name: ``from .psnr import psnr``."""
    imported = package.imports.get(name)
    return name in package.functions or name in package.classes or imported == f"{package.name}.{name}.{name}"


class CalledNames(Protocol):
    """The last names of everything that is called."""

    def __contains__(self, name: object) -> bool: ...

    def near(self, name: str, root: str) -> bool:
        """Whether something of this name is called where what lies below a folder may be meant."""


class NothingCalled:
    def __contains__(self, name: object) -> bool:
        return False

    def near(self, name: str, root: str) -> bool:
        return False


class Program:
    """All modules by path; answers what a name means.

    ``load`` gives the module of a file, or None: it is called at most once a file. ``called`` holds the last names
    of everything called in the linted files, ``roots`` the folders that imports may start from, ``packages`` the
    top-level names of the linted files.
    """

    def __init__(
        self,
        load: Callable[[str], ir.ModuleIR | None],
        roots: Iterable[str],
        called: CalledNames,
        packages: frozenset[str] = frozenset(),
    ) -> None:
        self.load = load
        self.packages = packages
        self.roots = tuple(sorted(set(roots)))
        self.called = called
        self._modules: dict[str, ir.ModuleIR | None] = {}
        self._found: dict[tuple[tuple[str, str], str], ir.ModuleIR | None] = {}
        self._beside: dict[tuple[str, str], ir.ModuleIR | None] = {}
        self._resolved: dict[tuple[str, str], Symbol | None] = {}
        self._mro: dict[ir.ClassIR, tuple[Base, ...]] = {}
        self._methods: dict[tuple[ir.ClassIR, str], ir.FunctionIR | None] = {}
        self._before: dict[tuple[ir.ClassIR, ir.ClassIR], frozenset[str]] = {}
        self._reached: dict[tuple[ir.ClassIR, str], frozenset[str]] = {}
        self._starts: dict[str, tuple[str, str]] = {}

    def module(self, path: str) -> ir.ModuleIR | None:
        if path not in self._modules:
            self._modules[path] = self.load(path)
        return self._modules[path]

    def starts_of(self, path: str) -> tuple[str, str]:
        """The folder of a script, and that of the package that a file belongs to: imports look there first."""
        starts = self._starts.get(path)
        if starts is None:
            root, own = source_root(path), os.path.dirname(os.path.abspath(path))
            starts = (root if observed.exists(os.path.join(own, "__init__.py")) else own, root)
            self._starts[path] = starts
        return starts

    def is_called(self, function: ir.FunctionIR) -> bool:
        """Whether a call in sight may be one of the function, by its name."""
        return self.called.near(function.name, self.starts_of(function.module)[1])

    # Names

    def find(self, dotted: str, importer: str) -> ir.ModuleIR | None:
        """The module that ``dotted`` means when the file ``importer`` imports it."""
        head = dotted.split(".", 1)[0]
        if head in EXTERNAL or not dotted:
            return None
        starts = self.starts_of(importer)
        key = (starts, dotted)
        if key not in self._found:
            self._found[key] = self._search(dotted, starts)
        found = self._found[key]
        if found is not None and found.path == importer:
            # ``from model import Net`` in ``tools/model.py`` means what lies beside ``tools``.
            return self._search(dotted, starts, importer) or found
        return found if found is not None or dotted[0] == "." else self._find_beside(dotted, importer, starts[1])

    def _find_beside(self, dotted: str, importer: str, root: str) -> ir.ModuleIR | None:
        """What a script within a package means by the name of a file that stands in its folder."""
        key = (importer, dotted)
        if key not in self._beside:
            self._beside[key] = None
            module = self.module(importer)
            package = dotted_name(importer, root)[0].partition(".")[0]
            if module is not None and os.path.basename(root) not in INSTALLED and not imports_from(package, module):
                base = dotted.replace(".", os.sep)
                found = (self._search_in(folder, base, importer) for folder in inner_folders(importer, root))
                self._beside[key] = next((one for one in found if one is not None), None)
        return self._beside[key]

    def _search(self, dotted: str, starts: tuple[str, str], but: str = "") -> ir.ModuleIR | None:
        """A name that starts with dots leads so many folders above the root; ``but`` is a file that is not meant."""
        name = dotted.lstrip(".")
        base = name.replace(".", os.sep)
        head = name.split(".", 1)[0]
        levels = len(dotted) - len(name)
        folders = (above(starts[1], levels),) if levels else tuple(dict.fromkeys((*starts, *self.roots)))
        for folder in folders:
            # Among installed packages only the linted ones are read: the others are libraries.
            if os.path.basename(folder) in INSTALLED and head not in self.packages:
                continue
            found = self._search_in(folder, base, but)
            if found is not None:
                return found
        return None

    def _search_in(self, folder: str, base: str, but: str) -> ir.ModuleIR | None:
        for candidate in (f"{base}.py", os.path.join(base, "__init__.py")):
            path = os.path.join(folder, candidate)
            if path != but and observed.is_file(path):
                return self.module(path)
        return None

    def resolve(self, path: str, name: str) -> Symbol | None:
        """What ``name`` means at the top level of the file ``path``; None for a builtin or an unknown name."""
        key = (path, name)
        if key in self._resolved:
            return self._resolved[key]
        self._resolved[key] = None  # a cycle of imports resolves to nothing
        found = self._resolved[key] = self._resolve(path, name)
        return found

    def _resolve(self, path: str, name: str) -> Symbol | None:
        module = self.module(path)
        if module is None:
            return None
        if name in module.imports and is_fallback(module.globals.get(name, ())) and name not in module.reassigned:
            return self.dotted(module.imports[name], path)
        if name in module.globals or name in module.reassigned:
            definition = module.functions.get(name) or module.classes.get(name)
            return definition if definition is not None and name not in module.globals else GlobalName(module, name)
        if name in module.imports:
            return self.dotted(module.imports[name], path)
        for star in module.star_imports if len(module.star_imports) <= MAX_STARS else ():
            origin = self.find(star, path)
            if origin is not None and (found := self.resolve(origin.path, name)) is not None:
                return found
        return None

    def dotted(self, name: str, importer: str) -> Symbol:
        """What a dotted name means, as far as the program knows."""
        if name.split(".", 1)[0] in EXTERNAL:
            return External(name)
        module = self.find(name, importer)
        prefix, _, last = name.rpartition(".")
        owner = self.find(prefix, importer) if prefix else None
        if owner is None:
            return module or External(name)
        if module is not None and not names(owner, last):
            return module
        return self.resolve(owner.path, last) or module or External(name)

    # Classes

    def expression_symbol(self, expression: ir.Expr, path: str) -> Symbol | None:
        """What a name or a dotted attribute means, by its text alone."""
        if isinstance(expression, ir.Subscript):
            return self.expression_symbol(expression.value, path)
        if isinstance(expression, ir.Name):
            return self.resolve(path, expression.name)
        if isinstance(expression, ir.Attribute):
            owner = self.expression_symbol(expression.value, path)
            if isinstance(owner, External):
                return External(f"{owner.name}.{expression.name}")
            if isinstance(owner, ir.ModuleIR):
                return self.resolve(owner.path, expression.name) or self.dotted(
                    f"{owner.name}.{expression.name}", owner.path
                )
        return None

    def mro(self, cls: ir.ClassIR) -> tuple[Base, ...]:
        """The class and its bases, depth first, each once; a base outside the program by its dotted name."""
        known = self._mro.get(cls)
        if known is not None:
            return known
        self._mro[cls] = (cls,)  # a cycle of inheritance ends here
        found: dict[Base, None] = {cls: None}
        for base in cls.bases:
            symbol = self.expression_symbol(base, cls.module)
            if isinstance(symbol, ir.ClassIR):
                found.update(dict.fromkeys(self.mro(symbol)))
            elif isinstance(symbol, External):
                found[symbol.name] = None
            else:
                found[f"?.{base.name}" if isinstance(base, (ir.Name, ir.Attribute)) else "?"] = None
        self._mro[cls] = tuple(found)
        return self._mro[cls]

    def method(self, cls: ir.ClassIR, name: str) -> ir.FunctionIR | None:
        key = (cls, name)
        if key not in self._methods:
            found = (base.methods.get(name) for base in self.mro(cls) if isinstance(base, ir.ClassIR))
            self._methods[key] = next((method for method in found if method is not None), None)
        return self._methods[key]

    def defined_before(self, cls: ir.ClassIR, owner: ir.ClassIR) -> frozenset[str]:
        """The names that ``cls`` and its bases define ahead of ``owner``: what they may override."""
        key = (cls, owner)
        found = self._before.get(key)
        if found is None:
            names: set[str] = set()
            for base in self.mro(cls):
                if base is owner:
                    break
                if isinstance(base, ir.ClassIR):
                    names.update(base.methods, base.attributes, base.assigned_in)
            found = self._before[key] = frozenset(names - {"__init__"})
        return found

    def reached_names(self, cls: ir.ClassIR, method: str) -> frozenset[str]:
        """The names of ``self`` that a method uses, itself or by the methods that it calls."""
        key = (cls, method)
        found = self._reached.get(key)
        if found is None:
            names: set[str] = set()
            pending = [method]
            while pending:
                function = self.method(cls, pending.pop())
                if function is None:
                    continue
                fresh = function.uses.get("self", frozenset()) - names
                names |= fresh
                pending.extend(fresh)
            found = self._reached[key] = frozenset(names)
        return found

    def after(self, cls: ir.ClassIR, start: ir.ClassIR, name: str) -> ir.FunctionIR | None:
        """What ``super().name`` finds, in a method of ``start``, for an instance of ``cls``."""
        order = self.mro(cls)
        order = order[order.index(start) + 1 :] if start in order else self.mro(start)[1:]
        for base in order:
            if isinstance(base, ir.ClassIR) and name in base.methods:
                return base.methods[name]
        return None

    def owner(self, function: ir.FunctionIR) -> ir.ClassIR | None:
        """The class whose method a function is."""
        if not function.owner:
            return None
        module = self.module(function.module)
        return module.classes.get(function.owner) if module is not None else None

    def external_bases(self, cls: ir.ClassIR) -> Iterator[str]:
        return (base for base in self.mro(cls) if isinstance(base, str))
