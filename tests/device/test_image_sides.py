"""Images that are not there have the size that the program takes."""

from __future__ import annotations

import pytest

pytest.importorskip("torch_xla")
pytest.importorskip("torchvision")

from proved_scripts import proved

from xlalint.findings.model import Basis, Evidence, Verdict

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
    return proved(tmp_path_factory.mktemp("sides"), PROGRAM)["read"]


def test_a_program_that_checks_the_size_of_its_images_runs(evidence: Evidence) -> None:
    assert (evidence.verdict, evidence.basis) == (Verdict.CONFIRMED, Basis.SCRIPT)
    assert "images that are made up have 64 x 64 pixels, which the program takes" in evidence.assumptions


def test_a_target_with_as_many_elements_is_taken_as_it_was(evidence: Evidence) -> None:
    assert any("binary cross entropy" in each for each in evidence.assumptions)
