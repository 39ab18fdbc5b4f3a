"""A script whose data lies in an archive of arrays and in a pickle, neither of which is there."""

from __future__ import annotations

import pytest

pytest.importorskip("torch_xla")

from proved_scripts import proved

from xlalint.findings.model import Basis, Evidence, Verdict

PROGRAM = """\
import argparse
import pickle

import numpy as np
import torch

assert torch.__version__ == "1.2.0"


class Forecast(torch.nn.Module):
    def __init__(self, graph):
        super().__init__()
        self.graph = torch.tensor(graph, dtype=torch.float32).cuda()
        self.mixed = torch.nn.Conv2d(3, 1, kernel_size=1)

    def forward(self, x):
        return self.mixed(x.transpose(1, 3)) * torch.mm(self.graph, self.graph).mean()


def read(path):
    with open(path, "rb") as file:
        return pickle.load(file)


MODELS = {"forecast": Forecast}
parser = argparse.ArgumentParser()
parser.add_argument("--model", required=True)
parser.add_argument("--rate", type=float, required=True, default=0.01)
args = parser.parse_args()

try:
    cached = np.load("data/cache.npy")
except FileNotFoundError:
    cached = None
assert cached is None
names, graph = read("data/graph.pkl")
data = np.load("data/train.npz")
x, y = data["x"], data["y"]
net = MODELS[args.model](graph).cuda()
optimizer = torch.optim.SGD(net.parameters(), args.rate)
for first in range(0, len(x), 4):
    rows = torch.Tensor(x[first : first + 4]).cuda()
    found = net(rows)
    optimizer.zero_grad()
    loss = (found.mean() - torch.Tensor(y[first : first + 4]).cuda().mean()) ** 2
    loss.backward()
    optimizer.step()
    print(loss.item())  # read
"""


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return proved(tmp_path_factory.mktemp("values"), PROGRAM)["read"]


def test_the_read_of_its_loss_is_confirmed_by_the_script(evidence: Evidence) -> None:
    assert (evidence.verdict, evidence.basis) == (Verdict.CONFIRMED, Basis.SCRIPT), evidence.reason


def test_the_forms_that_were_found_are_assumptions(evidence: Evidence) -> None:
    assert any(each.startswith("what `graph.pkl` holds is `(torch.") for each in evidence.assumptions)
    assert any(each.startswith("`x` of `train.npz` is `torch.rand(") for each in evidence.assumptions)


def test_what_the_program_does_without_is_not_made_up(evidence: Evidence) -> None:
    assert not any("cache.npy" in each for each in evidence.assumptions)


def test_the_version_that_it_demands_is_an_assumption(evidence: Evidence) -> None:
    assert "`torch.__version__ == '1.2.0'` is true: the program ends otherwise" in evidence.assumptions


def test_an_option_is_a_key_of_what_it_looks_up_and_keeps_its_default(evidence: Evidence) -> None:
    assert "`--model` is forecast" in evidence.assumptions
    assert "`--rate` is 0.01" in evidence.assumptions
