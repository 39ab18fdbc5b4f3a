"""Scripts that ask for modules, images and command lines as programs of former years did."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch_xla")
pytest.importorskip("PIL")

from xlalint.device.validation.trials import Settings
from xlalint.findings.configuration import Configurations
from xlalint.findings.model import Basis, Evidence, Verdict
from xlalint.linting import Options, lint
from xlalint.validating import validate

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
    # Somebody in the project uses XLA.
    "beside.py": "import torch_xla\n\ntorch_xla.sync()\n",
}


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    folder = tmp_path_factory.mktemp("former")
    (folder / "parts").mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    # What has been left of it, under its name.
    installed = tmp_path_factory.mktemp("installed")
    (installed / "scipy").mkdir()
    (installed / "scipy" / "__init__.py").write_text("", encoding="utf-8")
    (installed / "scipy" / "misc.py").write_text("", encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        report = lint([Path()], Configurations(), Options(jobs=1))
        proved = validate(report, Configurations(), Settings(steps=4), folders=[str(folder)], packages=[str(installed)])
    lines = FILES["train.py"].splitlines()
    found = next(
        one for one in proved.diagnostics if one.path.endswith("train.py") and "# read" in lines[one.at.line - 1]
    )
    assert found.evidence is not None
    return found.evidence


def test_the_script_runs_and_its_read_is_confirmed(evidence: Evidence) -> None:
    assert (evidence.verdict, evidence.basis) == (Verdict.CONFIRMED, Basis.SCRIPT)


def test_what_was_made_for_it_is_told(evidence: Evidence) -> None:
    told = "\n".join(evidence.assumptions)
    assert "the command line is `deep --width 2`" in told
    assert "`layers` is imported from beside the file that asks for it, as Python 2 did" in told
