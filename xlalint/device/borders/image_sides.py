"""The size of images that are made up: the first with which a rehearsal comes to the end of a step."""

from __future__ import annotations

import re

from xlalint.device.borders.clock import Clock

_SIDES = (256, 64, 32, 128, 28, 224, 512)
"""Pixels, the likeliest first: most programs scale or crop what they read."""
_ANY = re.compile("")


class ImageSides:
    """Of one script, whose images are squares of one size."""

    def __init__(self, clock: Clock, known: int) -> None:
        """``known`` is what a rehearsal has found, or 0."""
        self._clock, self.known = clock, known

    def side(self) -> int:
        """Asked for when the first image is read."""
        if not self.known:
            rehearsal = self._clock.rehearsal
            way = 0 if rehearsal is None else rehearsal.wanted(len(_SIDES), _ANY)
            self.known = _SIDES[way]
        if self.known != _SIDES[0]:
            self._clock.assume(f"images that are made up have {self.known} pixels a side, which the program takes")
        return self.known
