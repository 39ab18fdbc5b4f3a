"""A script whose transforms ask for large images runs on smaller ones, where its model takes them."""

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
import torch
from torchvision import datasets, transforms

small = transforms.Compose([transforms.RandomResizedCrop(224), transforms.ToTensor()])
loader = torch.utils.data.DataLoader(datasets.ImageFolder("images", small), batch_size=32)
net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 7, 7), {head}).cuda()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for images, labels in loader:
    loss = torch.nn.functional.cross_entropy(net(images.cuda()), labels.cuda())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())  # read
"""
POOLED = "torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(4, 10)"
FIXED = "torch.nn.Flatten(), torch.nn.Linear(4 * 32 * 32, 10)"


def proved(folder: Path, text: str) -> Evidence:
    (folder / "train.py").write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        # Somebody in the project uses XLA.
        Path("beside.py").write_text("import torch_xla\n\ntorch_xla.sync()\n", encoding="utf-8")
        report = lint([Path()], Configurations(), Options(jobs=1))
        found = validate(report, Configurations(), Settings(steps=4), folders=[str(folder)])
    evidence = next(one for one in found.diagnostics if "# read" in text.splitlines()[one.at.line - 1]).evidence
    assert evidence is not None
    return evidence


def test_a_model_that_takes_any_size_gets_small_images(tmp_path: Path) -> None:
    evidence = proved(tmp_path, PROGRAM.format(head=POOLED))
    assert (evidence.verdict, evidence.basis) == (Verdict.CONFIRMED, Basis.SCRIPT)
    assert "images have 56 pixels a side, where the program asks for 224" in evidence.assumptions


def test_a_model_of_one_size_gets_what_it_asks_for(tmp_path: Path) -> None:
    evidence = proved(tmp_path, PROGRAM.format(head=FIXED))
    assert (evidence.verdict, evidence.basis) == (Verdict.CONFIRMED, Basis.SCRIPT)
    assert not any("pixels a side" in each for each in evidence.assumptions)
