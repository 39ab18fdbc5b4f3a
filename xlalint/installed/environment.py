"""Locates the installed packages that the code of a folder imports, and their versions."""

from __future__ import annotations

import fnmatch
import os
import re
import sys
from collections.abc import Iterator

from xlalint.sources import observed
from xlalint.sources.observations import Selection

DIST_INFO = ".dist-info"
_INTERPRETERS = ("python", "pypy")
# Where an environment has its packages; the second is Debian's own Python.
_INSIDE = (
    ("lib*", "python3*", "site-packages"),
    ("lib*", "python3*", "dist-packages"),
    ("Lib", "site-packages"),
)


def folders_of(environment: str | None, root: str) -> tuple[str, ...]:
    """The folders with installed packages that code below ``root`` may import from, the likeliest first.

    ``environment`` is the one that the user names: a virtual environment, its interpreter, or a folder with packages.
    Without it: the active one, one that lies in ``root``, and the one that runs this.
    """
    if environment is not None:
        return packages_in(named(environment, root))
    active = (os.environ.get("VIRTUAL_ENV"), os.path.join(root, ".venv"), os.environ.get("CONDA_PREFIX"), sys.prefix)
    found = (folder for one in active if one for folder in packages_in(one))
    return tuple(dict.fromkeys(found))


def named(environment: str, root: str) -> str:
    """The path of an environment, as code or a configuration in ``root`` names it."""
    return os.path.join(root, os.path.expanduser(environment))


def packages_in(environment: str) -> tuple[str, ...]:
    """The folders with packages of an environment, given by its folder, its interpreter or by one of those folders.
    Empty where it is none of these."""
    is_interpreter = observed.is_file(environment)
    if is_interpreter:
        if not os.path.basename(environment).lower().startswith(_INTERPRETERS):
            return ()
        environment = os.path.dirname(os.path.dirname(os.path.abspath(environment)))
    inside = [found for each in _INSIDE for found in _matching(environment, *each)]
    if inside:
        return tuple(sorted(dict.fromkeys(map(observed.real_path, inside))))
    return (observed.real_path(environment),) if not is_interpreter and _holds_packages(environment) else ()


def _matching(folder: str, *patterns: str) -> Iterator[str]:
    """The folders below a folder whose paths match, part by part; without patterns the folder itself."""
    if not patterns:
        if observed.is_folder(folder):
            yield folder
        return
    pattern, *others = patterns
    if not set(pattern) & set("*?["):
        yield from _matching(os.path.join(folder, pattern), *others)
        return
    for name in _names(folder, ("",)):
        if fnmatch.fnmatchcase(name, pattern):
            yield from _matching(os.path.join(folder, name), *others)


def _names(folder: str, endings: tuple[str, ...]) -> list[str]:
    """What lies in a folder and has one of these endings; nothing where it can't be read."""
    try:
        return [entry.name for entry in observed.entries(folder, Selection(endings))]
    except OSError:
        return []


def _holds_packages(folder: str) -> bool:
    names = _names(folder, ("",))
    return any(
        name.endswith((".py", DIST_INFO)) or observed.is_file(os.path.join(folder, name, "__init__.py"))
        for name in names
    )


def folder_with(folders: tuple[str, ...], package: str) -> str | None:
    """The first of ``folders`` that has a top-level package or module of this name."""
    for folder in folders:
        for candidate in (os.path.join(package, "__init__.py"), f"{package}.py"):
            if observed.is_file(os.path.join(folder, candidate)):
                return folder
    return None


def version_of(folder: str, package: str) -> str:
    """The version of the distribution that brought a top-level package; empty where none says so."""
    split = [(name, *name.removesuffix(DIST_INFO).partition("-")[::2]) for name in _names(folder, (DIST_INFO,))]
    for _, distribution, version in split:
        if normalised(distribution) == normalised(package):
            return version
    for name, _, version in split:
        if package in top_level_names(os.path.join(folder, name, "top_level.txt")):
            return version
    return ""


def normalised(name: str) -> str:
    """A distribution's name as PEP 503 compares them."""
    return re.sub(r"[-_.]+", "-", name).lower()


def top_level_names(path: str) -> Iterator[str]:
    try:
        yield from (line.strip() for line in observed.content(path).decode("utf-8", "replace").splitlines())
    except OSError:
        return
