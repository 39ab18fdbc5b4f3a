"""Scripts that ask for modules, images and command lines as programs of former years did."""

from __future__ import annotations

import pytest

pytest.importorskip("torch_xla")
pytest.importorskip("PIL")

from proved_scripts import BESIDE, USES_XLA, proved_files

from xlalint.findings.model import Basis, Evidence, Verdict

FILES = {
    "train.py": """\
import click
import torch
from scipy import misc

from parts.network import Net


@click.command()
@click.argument("experiment", type=click.Choice(["deep", "wide"]))
@click.option("--width", type=int, required=True)
@click.option("--epochs", default=10)
def main(experiment, width, epochs):
    assert (experiment, width) == ("deep", 2)
    image = misc.imresize(misc.imread("cat.jpg"), (8, 8))
    net = Net().cuda()
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    for epoch in range(epochs):
        loss = net(torch.from_numpy(image).float().cuda()).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item())  # read


main()
""",
    "parts/__init__.py": "",
    "parts/network.py": """\
import torch

from layers import make


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = make()

    def forward(self, x):
        return self.inner(x)
""",
    "parts/layers.py": """\
from .sizes import WIDTH

import torch


def make():
    return torch.nn.Linear(3, WIDTH)
""",
    "parts/sizes.py": "WIDTH = 2\n",
    BESIDE: USES_XLA,
}


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    # What has been left of it, under its name.
    installed = tmp_path_factory.mktemp("installed")
    (installed / "scipy").mkdir()
    (installed / "scipy" / "__init__.py").write_text("", encoding="utf-8")
    (installed / "scipy" / "misc.py").write_text("", encoding="utf-8")
    return proved_files(tmp_path_factory.mktemp("former"), FILES, packages=installed)["train.py", "read"]


def test_the_script_runs_and_its_read_is_confirmed(evidence: Evidence) -> None:
    assert (evidence.verdict, evidence.basis) == (Verdict.CONFIRMED, Basis.SCRIPT)


def test_what_was_made_for_it_is_told(evidence: Evidence) -> None:
    told = "\n".join(evidence.assumptions)
    assert "the command line is `deep --width 2`" in told
    assert "`layers` is imported from beside the file that asks for it, as Python 2 did" in told
