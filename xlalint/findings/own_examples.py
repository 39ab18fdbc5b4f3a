"""The package's own examples, known by their text: what they do when they are run is known, wherever they lie."""

from __future__ import annotations

import hashlib
from pathlib import Path

from xlalint.knowledge.tables import own_examples

_IMPORTED = ("dataclasses", "lightning", "math", "torch", "torch_xla")
"""All that they import."""


def is_own_example(path: str) -> bool:
    """Whether a file is one of them, to the letter, and no module of a project takes the place of what it imports."""
    file = Path(path).resolve()
    try:
        text = file.read_bytes()
    except OSError:
        return False
    if digest(text) not in own_examples():
        return False
    names = [name for one in _IMPORTED for name in (one, f"{one}.py")]
    return not any((folder / name).exists() for folder in file.parents for name in names)


def digest(text: bytes) -> str:
    return hashlib.sha256(text.replace(b"\r\n", b"\n")).hexdigest()
