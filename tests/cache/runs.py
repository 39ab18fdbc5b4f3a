"""A small project, and runs over it with and without a cache."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

KEPT = "xlalint: note: nothing has changed since the run that is kept in the cache\n"
_SECONDS = re.compile(r'("seconds": )[\d.]+')

TRAIN = """\
import torch
import torch_xla

from parts.losses import mean_of
from parts.steps import update


def train(model, loader, optimizer, device):
    total = 0.0
    for x, y in loader:
        loss = mean_of(model(x.to(device)), y.to(device))
        update(loss, optimizer)
        torch_xla.sync()
        total += loss.item()
    return total
"""
LOSSES = """\
import torch


def mean_of(a, b):
    return torch.nn.functional.mse_loss(a, b)
"""
STEPS = """\
def update(loss, optimizer):
    optimizer.zero_grad()
    loss.backward()
    print(loss.item())
    optimizer.step()
"""
FILES = {
    "train.py": TRAIN,
    "parts/__init__.py": "",
    "parts/losses.py": LOSSES,
    "parts/steps.py": STEPS,
    "pyproject.toml": "[tool.xlalint]\nfollow = false\n",
}


class Outcome(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def is_kept(self) -> bool:
        return KEPT in self.err

    @property
    def shown(self) -> tuple[int, str, str]:
        """What must be the same with and without a cache; how long it took is not."""
        told = "".join(line for line in self.err.splitlines(keepends=True) if " note: " not in line)
        return self.code, _SECONDS.sub(r"\g<1>0", self.out), told


Lint = Callable[..., Outcome]


def write(files: dict[str, str], folder: Path = Path()) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
