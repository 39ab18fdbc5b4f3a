"""The rows of ``calls.csv`` and the program that each row's probe is put into."""

import csv
from importlib import resources

import msgspec

_HEAD = """\
import copy
import io
import math

import torch
import torch_xla
import torch_xla.core.xla_model as xm
import torch_xla.experimental.eager
from torch import distributions


def run(steps: int) -> None:
    device = torch_xla.device()
    start = torch.rand(4, 8, device=device) * 0.5 + 0.25
    model = torch.nn.Linear(8, 8).to(device)
    plain = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(steps):
        x = start * 0.9
        t = x.mean()
        model(x).sum().backward()
        parameters = list(model.parameters())
"""
_TAIL = """
        torch_xla.sync()
"""


class Row(msgspec.Struct, frozen=True):
    """``metric`` is what the device counts; ``probe`` may have several statements, and the last one is meant."""

    name: str
    condition: str
    positions: str
    operand: str
    unless: str
    chosen: str
    effect: str
    metric: str
    detail: str
    fix: str
    probe: str
    source: str

    @property
    def label(self) -> str:
        return f"{self.name} {self.condition}".strip()

    @property
    def program(self) -> str:
        """Statements parted by ``|`` stand before the loop, but for the last."""
        *before, last = self.probe.split(" | ")
        loop = "    for step in range(steps):\n"
        start, _, body = _HEAD.partition(loop)
        return f"{start}{''.join(f'    {line}{chr(10)}' for line in before)}{loop}{body}        {last}{_TAIL}"

    @property
    def imports(self) -> tuple[str, ...]:
        """The libraries that the probe imports."""
        before = self.probe.split(" | ")
        return tuple(line.removeprefix("import ") for line in before if line.startswith("import "))

    @property
    def line(self) -> int:
        return self.program.count("\n", 0, self.program.index(_TAIL)) + 1


def rows() -> list[Row]:
    text = (resources.files("xlalint.knowledge") / "calls.csv").read_text(encoding="utf-8")
    return [Row(**row) for row in csv.DictReader(text.splitlines())]
