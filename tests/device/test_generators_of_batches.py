"""Loops of generators hand batches on: the loop that asks them takes the steps."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch_xla")

from proved_scripts import proved

from xlalint.findings.model import Basis, Verdict

PROGRAM = """\
import torch
import torch_xla


class Endless(torch.utils.data.Sampler):
    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        while True:
            for number in range(len(self.rows)):
                yield number


def batches(loader):
    while True:
        for batch in loader:
            yield batch


rows = torch.utils.data.TensorDataset(torch.randn(64, 4), torch.randint(0, 2, (64,)))
endless = iter(torch.utils.data.DataLoader(rows, batch_size=4, sampler=Endless(rows)))
again = batches(torch.utils.data.DataLoader(rows, batch_size=32))
device = torch_xla.device()
net = torch.nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(1000):  # steps
    x, y = next(endless)
    z, _ = next(again)
    loss = torch.nn.functional.cross_entropy(net(x.to(device)), y.to(device)) + net(z.to(device)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())  # read
"""


def test_steps_are_those_of_the_loop_that_asks(tmp_path: Path) -> None:
    found = proved(tmp_path, PROGRAM)
    assert {name: (each.verdict, each.basis) for name, each in found.items() if name in ("steps", "read")} == {
        "steps": (Verdict.CONFIRMED, Basis.SCRIPT),
        "read": (Verdict.CONFIRMED, Basis.SCRIPT),
    }


def test_a_loop_that_ends_early_does_not_refute_its_missing_boundary(tmp_path: Path) -> None:
    early = PROGRAM.replace(
        "    x, y = next(endless)\n", "    if step:\n        raise StopIteration\n    x, y = next(endless)\n"
    )
    found = proved(tmp_path, early)
    assert found["steps"].verdict is not Verdict.REFUTED
