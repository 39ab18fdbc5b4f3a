"""Which files of a project import which, by the text of their import statements: none of them is parsed."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cached_property

from xlalint.program.link import above, beneath, dotted_name, import_roots, relative, source_roots
from xlalint.program.package_scripts import inner_folders
from xlalint.sources.dependents import File


class ModulePaths:
    """Files by the dotted names that others import them by."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.roots = source_roots(paths)
        """The folder that imports of a file start from."""
        self.all_roots = tuple(sorted(import_roots(self.roots.values())))
        self._paths = {(root, dotted_name(path, root)[0]): path for path, root in self.roots.items()}

    def target(self, name: str, root: str) -> str | None:
        """The file that a name stands for, or that defines it; None where it is none of these."""
        below = name.lstrip(".")
        if below != name:
            return self.beside(below, above(root, len(name) - len(below)))
        return self._paths.get((root, name)) or self._paths.get((root, name.rpartition(".")[0]))

    def within(self, name: str, path: str) -> str | None:
        """The same of a name that stands in the folder of a script within a package."""
        found = (self.beside(name, folder) for folder in inner_folders(path, self.roots[path]))
        return next((one for one in found if one is not None), None)

    def beside(self, name: str, folder: str) -> str | None:
        """The same of a name that leads above the folder that a file's imports start from."""
        for dotted in (name, name.rpartition(".")[0]):
            base = os.path.join(folder, dotted.replace(".", os.sep))
            for path in (f"{base}.py", os.path.join(base, "__init__.py")):
                if path in self.roots:
                    return path
        return None


class ImportGraph:
    """The files by the names that others import them by."""

    def __init__(self, files: Mapping[str, File]) -> None:
        self.files = files

    @cached_property
    def modules(self) -> ModulePaths:
        return ModulePaths(self.files)

    def names(self, path: str) -> Iterator[str]:
        """The dotted names that a file imports; those of packages are made absolute."""
        package = dotted_name(path, self.modules.roots[path])[1]
        for origin, name in self.files[path].imports.dotted:
            text = origin.decode(errors="surrogateescape")
            level = len(text) - len(text.lstrip("."))
            if level:
                text = relative(package, level, text[level:])
            imported = name.decode(errors="surrogateescape")
            yield beneath(text, imported) if imported not in ("", "*") else text

    def imported_by(self, path: str) -> Iterator[str]:
        """The files that a file imports, as far as they are among these."""
        modules = self.modules
        roots = (modules.roots[path], *modules.all_roots)
        for name in self.names(path):
            targets = (modules.target(name, root) for root in roots)
            found = next((target for target in targets if target not in (None, path)), None) or modules.within(
                name, path
            )
            if found is not None:
                yield found

    def leads_to(self, path: str, goals: Collection[str]) -> bool:
        """Whether a file imports one of ``goals``, itself or through others."""
        seen = {path}
        pending = [path]
        while pending:
            for found in self.imported_by(pending.pop()):
                if found in goals:
                    return True
                if found not in seen:
                    seen.add(found)
                    pending.append(found)
        return False
