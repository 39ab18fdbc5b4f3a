"""Transforms that give images of fewer pixels than a script asks for: how often a graph is compiled does not depend on
them. A rehearsal tells whether the program's models take them. Imports torchvision.
"""

from __future__ import annotations

import functools
import inspect
from importlib import import_module
from typing import Any

from xlalint.device.borders.image_sizes import ImageSizes

_SIZED = ("Resize", "Scale", "CenterCrop", "RandomCrop", "RandomResizedCrop", "RandomSizedCrop", "FiveCrop", "TenCrop")
_OWNERS = ("torchvision.transforms.transforms", "torchvision.transforms.v2")


def watch_transforms(sizes: ImageSizes) -> None:
    """All sizes that transforms are made with are those that ``sizes`` gives for them."""
    for owner in _OWNERS:
        module = import_module(owner)
        for name in _SIZED:
            kind: Any = vars(module).get(name)
            if isinstance(kind, type) and "__init__" in vars(kind):
                kind.__init__ = _making(kind.__init__, sizes)  # type: ignore[misc]


def _making(make: Any, sizes: ImageSizes) -> Any:
    signature = inspect.signature(make)

    @functools.wraps(make)
    def made(self: Any, *args: Any, **kwargs: Any) -> None:
        given = signature.bind(self, *args, **kwargs)
        if "size" in given.arguments:
            given.arguments["size"] = sizes.transformed(given.arguments["size"])
        make(*given.args, **given.kwargs)

    return made
