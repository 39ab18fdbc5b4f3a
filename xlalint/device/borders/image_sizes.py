"""Sizes of images: of those that are made up, and of those that a script's transforms make."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from xlalint.device.borders.clock import Clock

_MADE_UP = ((256, 256), (64, 64), (32, 32), (128, 128), (28, 28), (224, 224), (512, 512), (512, 256))
"""(width, height) in pixels, the likeliest first: most programs scale or crop what they read, and those that translate
images read pairs of them, side by side."""
_ANY = re.compile("")
_LARGE = 128
"""Pixels of a side; what is smaller stays as it is."""
_PART = 4
"""Of a side, what is left: 224 become 56."""


class ImageSizes:
    """Of one script. Images that are made up have one size: the first with which a rehearsal comes to the end of a
    step."""

    def __init__(self, clock: Clock, known: tuple[int, int] | None, smaller: bool) -> None:
        """``known`` is the size that a rehearsal has found; ``smaller`` whether transforms make fewer pixels than the
        program asks for."""
        self._clock, self.known, self._smaller = clock, known, smaller
        self._made_up = known
        self.made_smaller = False
        """Whether some have fewer pixels than the program asks for."""

    def made_up(self) -> tuple[int, int]:
        """(width, height), asked for when the first image is read."""
        if self._made_up is None:
            rehearsal = self._clock.rehearsal
            way = None if rehearsal is None else rehearsal.wanted(len(_MADE_UP), _ANY)
            self.known = None if way is None else _MADE_UP[way]
            self._made_up = self.known or _MADE_UP[0]
        if self._made_up != _MADE_UP[0]:
            self._clock.assume(f"images that are made up have {_shown(self._made_up)} pixels, which the program takes")
        return self._made_up

    def transformed(self, size: Any) -> Any:
        """That which a transform gets in place of the one that it is made with."""
        sides = size if isinstance(size, Sequence) else (size,)
        if not self._smaller or not sides or not all(isinstance(each, int) for each in sides) or max(sides) < _LARGE:
            return size
        part = [max(each // _PART, 1) for each in sides]
        smaller = part if isinstance(size, Sequence) else part[0]
        self.made_smaller = True
        self._clock.assume(f"images have {_shown(smaller)} pixels a side, where the program asks for {_shown(size)}")
        return smaller


def _shown(size: Any) -> str:
    return " x ".join(map(str, size)) if isinstance(size, Sequence) else str(size)
