"""Scripts that stand in a package, beside what they import: Python puts the folder of a script ahead of all others that
imports may start from, whether or not it holds an ``__init__``; that holds for the files that it imports, too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from xlalint.program import ir
from xlalint.sources import observed

PROJECT_FILES = ("pyproject.toml", "setup.py", "setup.cfg")


def inner_folders(path: str, root: str) -> Iterator[str]:
    """The folders of a package around a file, the nearest first; none in a project that is installed, whose files are
    imported by their full names."""
    folder = os.path.dirname(os.path.abspath(path))
    if folder == root or any(observed.is_file(os.path.join(root, name)) for name in PROJECT_FILES):
        return
    while folder != root and len(folder) > len(root):
        yield folder
        folder = os.path.dirname(folder)


def imports_from(package: str, module: ir.ModuleIR) -> bool:
    """Whether a file imports from a package, by its name or by dots: then it is no script of it."""
    return any(name.partition(".")[0] == package for name in (*module.imports.values(), *module.star_imports))
