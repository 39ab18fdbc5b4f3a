"""What rules of others are made of: noted, so that a run is done anew when they change."""

from __future__ import annotations

import os
import sys

from xlalint.sources import observed
from xlalint.sources.observations import Selection

_METADATA = (".dist-info", ".egg-info", ".egg-link", ".pth")
_COMPILED = "__pycache__"


def note_installed() -> None:
    """Where plugins are looked for, and what is installed there."""
    if observed.noted() is None:
        return
    observed.note_search_path(sys.path)
    for folder in dict.fromkeys(os.path.abspath(each) for each in sys.path):
        try:
            installed = observed.entries(folder, Selection(_METADATA))
        except OSError:
            continue  # no folder, which is noted
        observed.note_files(os.path.join(each.path, "entry_points.txt") for each in installed if each.is_dir())


def note_package(name: str) -> None:
    """All files of the top-level package that a plugin's rules lie in."""
    module = sys.modules.get(name.partition(".")[0])
    waiting = [os.path.abspath(each) for each in getattr(module, "__path__", ())] if observed.noted() else []
    while waiting:
        folder = waiting.pop()
        try:
            inside = observed.entries(folder, Selection(("",), but=(_COMPILED,)))
        except OSError:
            continue
        waiting += [each.path for each in inside if each.is_dir(follow_symlinks=False)]
        observed.note_files(each.path for each in inside if each.is_file())


def note_modules() -> None:
    """The files of all that was imported, but for Python's own and the linter's: where there are plugins, any of them
    may be theirs."""
    own = tuple(os.path.join(os.path.dirname(os.path.abspath(each)), "") for each in (os.__file__, observed.__file__))
    files = [os.path.abspath(file) for each in list(sys.modules.values()) if (file := getattr(each, "__file__", None))]
    packages = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")
    observed.note_files(path for path in files if not path.startswith(own) or any(each in path for each in packages))
