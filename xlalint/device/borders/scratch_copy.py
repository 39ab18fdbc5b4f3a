"""A copy of the folder that a program is run in: it reads its files there, and what it writes stays there."""

from __future__ import annotations

import builtins
import os
import shutil
from collections import deque
from importlib import import_module
from pathlib import Path
from typing import Any

torch: Any = import_module("torch")
_builtins: Any = import_module("builtins")
_io: Any = import_module("io")

_NAME = "copy"
_MOST_ENTRIES = 3000
"""Files and folders that are made one by one; a folder beyond them is a link to the one that is meant."""
_MOST_IN_FOLDER = 500
_LARGEST = 1 << 20
"""Bytes of a file that is copied; a larger one is a link until it is written to."""
_LEFT_OUT = frozenset({".git", "__pycache__"})


def enter_scratch_copy(folder: str) -> None:
    """The working directory is a copy of ``folder`` from here on."""
    target = Path(_NAME).resolve()
    target.mkdir(exist_ok=True)
    _copy(Path(folder), target)
    os.chdir(target)
    _write_own_copies()


def _copy(folder: Path, target: Path) -> None:
    """What lies near the top is copied first."""
    left, waiting = _MOST_ENTRIES, deque([(folder, target)])
    while waiting:
        source, made = waiting.popleft()
        entries = [each for each in _entries(source) if each.name not in _LEFT_OUT]
        if source != folder and (len(entries) > _MOST_IN_FOLDER or len(entries) > left):
            made.rmdir()
            made.symlink_to(source)
            continue
        left -= len(entries)
        for each in entries:
            if each.is_dir():
                (made / each.name).mkdir()
                waiting.append((Path(each.path), made / each.name))
            elif each.is_file() and each.stat().st_size <= _LARGEST:
                shutil.copyfile(each.path, made / each.name)
            else:
                (made / each.name).symlink_to(each.path)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """Empty for a folder that may not be read."""
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda each: each.name)
    except OSError:
        return []


def own_copy(file: Any) -> None:
    """A link to a file of the program's becomes a file of this run before it is written to."""
    if isinstance(file, (str, os.PathLike)) and os.path.islink(file):
        text = Path(file).read_bytes() if os.path.isfile(file) else b""
        os.unlink(file)
        Path(file).write_bytes(text)


def _write_own_copies() -> None:
    """torch writes without `open`."""
    original, save = builtins.open, torch.save

    def opened(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        if any(letter in mode for letter in "wax+"):
            own_copy(file)
        return original(file, mode, *args, **kwargs)

    def saved(value: Any, file: Any, *args: Any, **kwargs: Any) -> None:
        own_copy(file)
        save(value, file, *args, **kwargs)

    _builtins.open = _io.open = opened
    torch.save = saved
