"""Which xlalint this is, and what it runs on: what is kept between runs holds for nothing else."""

from __future__ import annotations

import os
import sys
from functools import cache
from importlib.util import find_spec

_DEPENDENCIES = ("click-", "libcst-", "msgspec-", "pathspec-", "sarif_om-", "tomli-", "xlalint-")
"""How the folders of metadata begin that name the versions of what is imported."""


@cache
def version_of_tool() -> str:
    """A text that is another one where a result might be: by the stamps of the linter's own files, the versions of what
    it imports, and the Python that runs it."""
    import hashlib

    found = hashlib.sha256(repr((sys.version_info, sys.implementation.name, sys.platform, sys.prefix)).encode())
    for folder in _own_folders():
        for path, status in sorted(_files_below(folder)):
            found.update(f"{path} {status.st_size} {status.st_mtime_ns}".encode("utf-8", "surrogateescape"))
    found.update("\n".join(_versions()).encode("utf-8", "surrogateescape"))
    return found.hexdigest()


def _own_folders() -> list[str]:
    """That of the package, and that of its rules, which may lie elsewhere."""
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    rules = find_spec("xlalint.rules")
    places = rules.submodule_search_locations if rules is not None else None
    others = [os.path.abspath(place) for place in places or ()]
    return [own, *(place for place in others if not place.startswith(os.path.join(own, "")))]


def _files_below(folder: str) -> list[tuple[str, os.stat_result]]:
    found = []
    waiting = [folder]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != "__pycache__":
                        waiting.append(entry.path)
                else:
                    found.append((entry.path, entry.stat()))
    return found


def _versions() -> list[str]:
    """The names of the dependencies' metadata, beside the packages that are imported."""
    import msgspec

    folder = os.path.dirname(os.path.dirname(os.path.abspath(msgspec.__file__)))
    return sorted(name for name in os.listdir(folder) if name.lower().startswith(_DEPENDENCIES))
