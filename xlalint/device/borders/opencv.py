"""Images and windows of OpenCV: pictures that are not there are made up, and nothing is shown."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import Any

from xlalint.device.borders.clock import Clock
from xlalint.device.borders.image_sizes import ImageSizes

_SHOWN = ("imshow", "namedWindow", "destroyAllWindows", "destroyWindow", "moveWindow", "resizeWindow", "waitKey")


def stand_in_for_opencv(clock: Clock, sizes: ImageSizes) -> None:
    """Where it is installed, and the program imports it."""
    try:
        opencv, numpy = import_module("cv2"), import_module("numpy")
    except ImportError:
        return
    vision: Any = opencv
    read = vision.imread

    def imread(path: Any, flags: int = vision.IMREAD_COLOR) -> Any:
        if os.path.exists(path):
            return read(path, flags)
        clock.assume("images that are not there are made up")
        width, height = sizes.made_up()
        shape = (height, width) if flags == vision.IMREAD_GRAYSCALE else (height, width, 3)
        return numpy.random.randint(0, 256, shape, numpy.uint8)

    vision.imread = imread
    for name in _SHOWN:
        setattr(vision, name, _answering(-1))
    vars(vision).update(imwrite=_answering(True))


def _answering(answer: object) -> Callable[..., object]:
    return lambda *_, **__: answer
