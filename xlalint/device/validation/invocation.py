"""The command line of a program that is run as it is: `python train.py …`, `python -m train …`. Pure."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

import msgspec

_PYTHON = re.compile(r"(python|pypy)[\d.]*(\.exe)?")
_MODULE = "-m"


class NotRunnable(Exception):
    """Not a command line that starts a Python program of the user's. One line: why."""


class Invocation(msgspec.Struct, frozen=True):
    """A program with its arguments, and the folder that it is started in."""

    script: str
    """Its file, absolute."""
    arguments: tuple[str, ...]
    folder: str
    module: str = ""
    """Its name, where it is started by that."""
    interpreter: str = ""
    """The path of the Python that is named, if one is named by its path: programs may import its packages."""


def invocation_of(command: Sequence[str], folder: str) -> Invocation:
    """Of ``command`` as it is given in ``folder``. Raises ``NotRunnable``."""
    if not command:
        raise NotRunnable("give a program after `--`, as in `-- python train.py`")
    python, *words = command
    if not _PYTHON.fullmatch(os.path.basename(python)):
        raise NotRunnable(f"`{python}` is no Python: give the program as `python train.py` or `python -m train`")
    interpreter = os.path.join(folder, python) if os.path.dirname(python) else ""
    if words and words[0] in ("-u", "-O", "-B"):
        words = words[1:]
    if not words or (words[0].startswith("-") and words[0] != _MODULE):
        raise NotRunnable(f"`{' '.join(command)}` names no file and no module")
    if words[0] != _MODULE:
        script = os.path.abspath(os.path.join(folder, words[0]))
        if not os.path.isfile(script):
            raise NotRunnable(f"{words[0]}: no such file")
        return Invocation(script, tuple(words[1:]), folder, interpreter=interpreter)
    if len(words) < 2:
        raise NotRunnable("`-m` names no module")
    return Invocation(_file_of(words[1], folder), tuple(words[2:]), folder, words[1], interpreter)


def _file_of(module: str, folder: str) -> str:
    base = os.path.join(folder, *module.split("."))
    for path in (f"{base}.py", os.path.join(base, "__main__.py")):
        if os.path.isfile(path):
            return path
    raise NotRunnable(f"no module `{module}` lies in {folder}")
