"""The rows of ``surface.csv`` and the program that each row's probe is put into."""

import csv
from importlib import resources

import msgspec

_HEAD = """\
import copy
import logging
import math

import numpy as np
import torch
import torch_xla


def run(steps: int) -> None:
    device = torch_xla.device()
    start = torch.rand(4, 8, device=device)
    for step in range(steps):
        x = start * 2
        t = x.mean()
        i = x.sum(1).argmax()
        m = x > 1
        c = torch.zeros(4, 8)
        a = np.zeros((4, 8))
"""
_TAIL = """
        start = start + 0.5
        torch_xla.sync()
"""
LINE = _HEAD.count("\n") + 1


class Row(msgspec.Struct, frozen=True):
    """``known`` is ``missed`` or ``false-alarm`` where the engine is known to be wrong, else empty."""

    spelling: str
    effect: str
    probe: str
    reads: str
    known: str
    source: str

    @property
    def program(self) -> str:
        return f"{_HEAD}        {self.probe}{_TAIL}"


def rows() -> list[Row]:
    text = (resources.files("xlalint.knowledge") / "surface.csv").read_text(encoding="utf-8")
    return [Row(**row) for row in csv.DictReader(text.splitlines())]
