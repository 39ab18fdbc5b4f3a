"""What `scipy.misc` had for images, before SciPy 1.2. Imports Pillow and numpy, where they are there."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

_PART = 100


def answer_as_scipy_did() -> None:
    """Where the program imports it; names that are there stay as they are."""
    try:
        misc, image, numpy = (import_module(name) for name in ("scipy.misc", "PIL.Image", "numpy"))
    except ImportError:
        return

    def array(value: Any) -> Any:
        """An image of an array: of any numbers, from the least to the greatest."""
        found = numpy.asarray(value)
        if found.dtype != numpy.uint8:
            low, span = float(found.min()), float(found.max() - found.min())
            found = ((found - low) * (255 / (span or 1))).astype(numpy.uint8)
        return image.fromarray(found.transpose(1, 2, 0) if found.ndim == 3 and found.shape[0] == 3 else found)

    def imread(name: Any, flatten: bool = False, mode: str | None = None) -> Any:
        opened = image.open(name)
        wanted = "F" if flatten else mode
        return numpy.array(opened.convert(wanted) if wanted else opened)

    def imresize(value: Any, size: Any, interp: str = "bilinear", mode: str | None = None) -> Any:
        made = array(value)
        if isinstance(size, int):
            width, height = (side * size // _PART for side in made.size)
        elif isinstance(size, float):
            width, height = (int(side * size) for side in made.size)
        else:
            height, width = size[:2]
        return numpy.array(made.resize((width, height), getattr(image, interp.upper(), image.BILINEAR)))

    def imsave(name: Any, value: Any, format: str | None = None) -> None:
        array(value).save(name, format)

    former: dict[str, Callable[..., Any]] = {
        "imread": imread,
        "imresize": imresize,
        "imsave": imsave,
        "toimage": lambda value, *_, **__: array(value),
        "fromimage": lambda value, *_, **__: numpy.array(value),
    }
    for name, function in former.items():
        if name not in vars(misc):
            setattr(misc, name, function)
