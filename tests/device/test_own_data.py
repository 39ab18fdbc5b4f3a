"""Data sets of a program's own whose files are not there: their items have the form that the program asks for."""

from __future__ import annotations

import pytest

pytest.importorskip("torch_xla")

from proved_scripts import proved

from xlalint.findings.model import Basis, Evidence, Verdict

PROGRAM = """\
import csv

import torch
import torch_xla
from torch.utils.data import DataLoader, Dataset


class Digits(Dataset):
    def __init__(self, path, transform=None):
        self.transform = transform
        with open(path) as rows:
            self.rows = list(csv.reader(rows))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        pixels, label = self.read(self.rows[index])
        return {"digit": self.transform(pixels), "label": label}


class Numbers(Dataset):
    def __len__(self):
        return 512

    def __getitem__(self, index):
        return torch.full((3,), float(index))


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = torch.nn.Linear(784, 32), torch.nn.Linear(32, 1)

    def forward(self, x):
        return torch.sigmoid(self.last(torch.relu(self.first(x.view(x.shape[0], -1)))))


device = torch_xla.device()
net, shift = Net().to(device), torch.nn.Linear(3, 1).to(device)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for batch, numbers in zip(DataLoader(Digits("train.csv"), 16), DataLoader(Numbers(), 16)):
    prob = net(batch["digit"].to(device))
    loss = torch.nn.functional.binary_cross_entropy(prob, batch["label"].to(device))
    loss = loss + shift(numbers.to(device)).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(loss.item())  # read
    torch_xla.sync()
"""


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return proved(tmp_path_factory.mktemp("own-data"), PROGRAM)["read"]


def test_a_script_runs_on_items_that_the_program_asks_for(evidence: Evidence) -> None:
    assert (evidence.verdict, evidence.basis) == (Verdict.CONFIRMED, Basis.SCRIPT)


def test_what_was_made_up_is_told(evidence: Evidence) -> None:
    told = "\n".join(evidence.assumptions)
    assert "`Digits` gives 64 made-up items, as it could not be read (`train.csv` is not there)" in told
    assert "an item of `Digits` is `{'digit': torch.rand(1, 28, 28), 'label': torch.rand(1)}`" in told


def test_a_data_set_that_can_be_read_stays_as_it_is(evidence: Evidence) -> None:
    assert not any("`Numbers`" in each for each in evidence.assumptions)
