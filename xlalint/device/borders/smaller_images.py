"""Images of fewer pixels than a script's transforms ask for: how often a graph is compiled does not depend on them.

A rehearsal tells whether the program's models take them. Imports torchvision.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from xlalint.device.borders.clock import Clock

_LARGE = 128
"""Pixels of a side; what is smaller stays as it is."""
_PART = 4
"""Of a side, what is left: 224 become 56."""
_SIZED = ("Resize", "Scale", "CenterCrop", "RandomCrop", "RandomResizedCrop", "RandomSizedCrop", "FiveCrop", "TenCrop")
_OWNERS = ("torchvision.transforms.transforms", "torchvision.transforms.v2")


def make_images_smaller(clock: Clock) -> None:
    """All sizes that transforms are made with, by the same part, where one of their sides is large."""
    for owner in _OWNERS:
        module = import_module(owner)
        for name in _SIZED:
            kind: Any = vars(module).get(name)
            if isinstance(kind, type) and "__init__" in vars(kind):
                kind.__init__ = _making(kind.__init__, clock)  # type: ignore[misc]


def _making(make: Any, clock: Clock) -> Any:
    signature = inspect.signature(make)

    @functools.wraps(make)
    def made(self: Any, *args: Any, **kwargs: Any) -> None:
        given = signature.bind(self, *args, **kwargs)
        size = given.arguments.get("size")
        smaller = _smaller(size)
        if smaller is not None:
            clock.made_smaller = True
            clock.assume(f"images have {_shown(smaller)} pixels a side, where the program asks for {_shown(size)}")
            given.arguments["size"] = smaller
        make(*given.args, **given.kwargs)

    return made


def _smaller(size: Any) -> Any:
    """None where it stays as it is."""
    sides = size if isinstance(size, Sequence) else (size,)
    if not all(isinstance(each, int) for each in sides) or not sides or max(sides) < _LARGE:
        return None
    part = [max(each // _PART, 1) for each in sides]
    return part if isinstance(size, Sequence) else part[0]


def _shown(size: Any) -> str:
    return " x ".join(map(str, size)) if isinstance(size, Sequence) else str(size)
