"""The folder that a script runs in: it sees its own files there, and what it writes is not written to them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

_MOST = 3000
"""Files that are linked one by one; the rest is where it was."""
_NAME = "work"


def enter_working_folder(script: str, folders: Sequence[str]) -> None:
    """Links of the files beside the script, then of those of the run's folders, in real folders."""
    target = Path(_NAME)
    target.mkdir(exist_ok=True)
    for source in (os.path.dirname(script), *folders):
        for path in islice(_files(Path(source)), _MOST):
            link = target / path.relative_to(source)
            link.parent.mkdir(parents=True, exist_ok=True)
            with suppress(OSError):
                link.symlink_to(path)
    os.chdir(target)


def _files(folder: Path) -> list[Path]:
    found: list[Path] = []
    for above, names, files in os.walk(folder):
        names[:] = [name for name in names if not name.startswith(".") and name != "__pycache__"]
        found += [Path(above, name) for name in files]
        if len(found) > _MOST:
            break
    return found
