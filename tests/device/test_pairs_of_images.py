"""A script of Python 2's years: it ends where its data is missing, halves its pictures, and asks two loaders."""

from __future__ import annotations

import pytest

pytest.importorskip("torch_xla")
pytest.importorskip("torchvision")

from proved_scripts import proved

from xlalint.findings.model import Basis, Evidence, Verdict

PROGRAM = """\
import os
from glob import glob

import numpy as np
import torch
from PIL import Image
from torchvision import transforms

ROOT = "data/shoes"


def halves():
    for side in "AB":
        if not os.path.exists(os.path.join(ROOT, side)):
            os.makedirs(os.path.join(ROOT, side))
    for path in glob(os.path.join(ROOT, "train/*")):
        pixels = np.array(Image.open(path).convert("RGB"))
        width = pixels.shape[1]
        name = os.path.basename(path)
        if os.path.exists(os.path.join(ROOT, "A", name)):
            continue
        Image.fromarray(pixels[:, : width / 2]).save(os.path.join(ROOT, "A", name))
        Image.fromarray(pixels[:, width / 2 :]).save(os.path.join(ROOT, "B", name))


class Pictures(torch.utils.data.Dataset):
    def __init__(self, side):
        if not os.path.isdir(ROOT):
            raise Exception("%s is not there" % ROOT)
        halves()
        self.paths = glob(os.path.join(ROOT, side, "*"))
        self.shape = Image.open(self.paths[0]).size
        self.transform = transforms.Compose([transforms.Resize(16), transforms.ToTensor()])

    def __getitem__(self, index):
        return self.transform(Image.open(self.paths[index]).convert("RGB"))

    def __len__(self):
        return len(self.paths)


first, second = Pictures("A"), Pictures("B")
width, height = first.shape
firsts = iter(torch.utils.data.DataLoader(first, batch_size=4))
seconds = iter(torch.utils.data.DataLoader(second, batch_size=4))
net = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(3 * 16 * 16, 1)).cuda()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for step in range(1000):
    a, b = next(firsts), next(seconds)
    loss = (net(a.cuda()) - net(b.cuda())).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())  # read
"""


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return proved(tmp_path_factory.mktemp("pairs"), PROGRAM)["read"]


def test_the_read_is_proved_by_the_script(evidence: Evidence) -> None:
    assert (evidence.verdict, evidence.basis) == (Verdict.CONFIRMED, Basis.SCRIPT)


def test_a_path_that_the_program_demands_is_taken_for_there(evidence: Evidence) -> None:
    assert "`os.path.isdir(ROOT)` is true: the program ends otherwise" in evidence.assumptions


def test_whole_numbers_are_divided_as_the_program_needs_it(evidence: Evidence) -> None:
    assert "`/` of whole numbers gives a whole number, as in Python 2" in evidence.assumptions


def test_images_are_pairs_where_only_their_halves_fit(evidence: Evidence) -> None:
    assert "images that are made up have 512 x 256 pixels, which the program takes" in evidence.assumptions
