"""A script whose transforms ask for large images runs on smaller ones, where its model takes them."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch_xla")
pytest.importorskip("torchvision")

from proved_scripts import proved

from xlalint.findings.model import Basis, Verdict

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


def test_a_model_that_takes_any_size_gets_small_images(tmp_path: Path) -> None:
    evidence = proved(tmp_path, PROGRAM.format(head=POOLED))["read"]
    assert (evidence.verdict, evidence.basis) == (Verdict.CONFIRMED, Basis.SCRIPT)
    assert "images have 56 pixels a side, where the program asks for 224" in evidence.assumptions


def test_a_model_of_one_size_gets_what_it_asks_for(tmp_path: Path) -> None:
    evidence = proved(tmp_path, PROGRAM.format(head=FIXED))["read"]
    assert (evidence.verdict, evidence.basis) == (Verdict.CONFIRMED, Basis.SCRIPT)
    assert not any("pixels a side" in each for each in evidence.assumptions)
