"""Sizes that a script's transforms ask for."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

pytest.importorskip("torchvision")

PROGRAM = """\
import json
from xlalint.device.borders.clock import Clock
from xlalint.device.borders.image_sizes import ImageSizes
from xlalint.device.borders.sized_transforms import watch_transforms
from torchvision import transforms

clock = Clock(boundary=True)
watch_transforms(ImageSizes(clock, None, True))
found = [
    transforms.Resize(256).size,
    transforms.Resize((224, 112)).size,
    transforms.RandomCrop(32, padding=4).size,
    transforms.RandomResizedCrop(size=224, scale=(0.5, 1)).size,
]
print(json.dumps([found, list(clock.assumptions)]))
"""


def test_large_sizes_are_a_quarter_and_small_ones_stay() -> None:
    # In a process of its own: torchvision is changed there.
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    found, assumptions = json.loads(done.stdout.splitlines()[-1])
    assert found == [64, [56, 28], [32, 32], [56, 56]]
    assert "images have 64 pixels a side, where the program asks for 256" in assumptions
    assert len(assumptions) == 3
