"""Images that are not there have the size that the program takes."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch_xla")
pytest.importorskip("torchvision")

from xlalint.device.validation.trials import Settings
from xlalint.findings.configuration import Configurations
from xlalint.findings.model import Basis, Evidence, Verdict
from xlalint.linting import Options, lint
from xlalint.validating import validate

PROGRAM = """\
import sys

import torch
from torchvision import datasets, transforms

faces = datasets.ImageFolder("faces", transforms.ToTensor())
if faces[0][0].size(1) != 64:
    sys.exit(1)
net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 64 * 64, 1), torch.nn.Sigmoid()).cuda()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for images, _ in torch.utils.data.DataLoader(faces, batch_size=32):
    real = torch.ones(len(images)).cuda()
    loss = torch.nn.BCELoss()(net(images.cuda()), real)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())  # read
"""


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    folder = tmp_path_factory.mktemp("sides")
    (folder / "train.py").write_text(PROGRAM, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        # Somebody in the project uses XLA.
        Path("beside.py").write_text("import torch_xla\n\ntorch_xla.sync()\n", encoding="utf-8")
        report = lint([Path()], Configurations(), Options(jobs=1))
        proved = validate(report, Configurations(), Settings(steps=4), folders=[str(folder)])
    found = next(one for one in proved.diagnostics if "# read" in PROGRAM.splitlines()[one.at.line - 1])
    assert found.evidence is not None
    return found.evidence


def test_a_program_that_checks_the_size_of_its_images_runs(evidence: Evidence) -> None:
    assert (evidence.verdict, evidence.basis) == (Verdict.CONFIRMED, Basis.SCRIPT)
    assert "images that are made up have 64 pixels a side, which the program takes" in evidence.assumptions


def test_a_target_with_as_many_elements_is_taken_as_it_was(evidence: Evidence) -> None:
    assert any("binary cross entropy" in each for each in evidence.assumptions)
