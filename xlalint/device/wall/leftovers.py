"""What a program leaves in the places it may write: counted while it runs, removed afterwards. Used inside the wall."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress

from xlalint.device.wall.enclosure import SCRATCH, SHARED_MEMORY

_PLACES = (SCRATCH, SHARED_MEMORY)


def files() -> int:
    """How many there are: each takes memory of the kernel, whatever its size."""
    return sum(told.f_files - told.f_ffree for told in map(os.statvfs, _PLACES))


def remove() -> bool:
    """False where something can't be removed: the wall has to go with it."""
    for place in _PLACES:
        # Folders in folders beyond the interpreter's depth, folders that are closed to their own owner.
        with suppress(OSError, RecursionError):
            for entry in os.scandir(place):
                if entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                else:
                    os.unlink(entry.path)
    return not any(os.listdir(place) for place in _PLACES)
