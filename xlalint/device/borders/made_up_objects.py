"""Objects in images, as COCO's annotations name them, where their file is not there. Imports pycocotools, where it is
there.
"""

from __future__ import annotations

import functools
import os
from importlib import import_module
from typing import Any

from xlalint.device.borders.clock import Clock
from xlalint.device.borders.image_sizes import ImageSizes

_IMAGES, _IN_EACH, _KINDS = 64, 2, 80
_POINTS = 17
"""Of a person: three numbers for each."""


def stand_in_for_annotations(clock: Clock, sizes: ImageSizes) -> None:
    """From here on in this process."""
    try:
        reader: Any = import_module("pycocotools.coco").COCO
    except ImportError:
        return
    make = reader.__init__

    @functools.wraps(make)
    def made(self: Any, annotation_file: Any = None) -> None:
        if annotation_file is None or os.path.exists(annotation_file):
            make(self, annotation_file)
            return
        make(self)
        self.dataset = _annotated(*sizes.made_up())
        self.createIndex()
        name = os.path.basename(annotation_file)
        clock.assume(f"`{name}` names {_IMAGES} images with {_IN_EACH} objects each, as it is not there")

    reader.__init__ = made


def _annotated(width: int, height: int) -> dict[str, Any]:
    """What a file of annotations holds, of images of ``width`` by ``height`` pixels."""
    images = [
        {"id": number, "file_name": f"{number:012d}.jpg", "width": width, "height": height}
        for number in range(1, _IMAGES + 1)
    ]
    objects = [
        _object(number, image["id"], width, height)
        for number, image in enumerate(image for image in images for _ in range(_IN_EACH))
    ]
    kinds = [{"id": number, "name": str(number), "supercategory": ""} for number in range(1, _KINDS + 1)]
    return {"images": images, "annotations": objects, "categories": kinds, "info": {}, "licenses": []}


def _object(number: int, image: Any, width: int, height: int) -> dict[str, Any]:
    left, top = (side // 8 * (1 + number % _IN_EACH) for side in (width, height))
    right, bottom = left + width // 2, top + height // 2
    return {
        "id": number + 1,
        "image_id": image,
        "category_id": 1 + number % _KINDS,
        "bbox": [left, top, right - left, bottom - top],
        "area": (right - left) * (bottom - top),
        "iscrowd": 0,
        "segmentation": [[left, top, right, top, right, bottom, left, bottom]],
        "keypoints": [left, top, 2] * _POINTS,
        "num_keypoints": _POINTS,
        "caption": "a line of words that nobody wrote",
    }
