"""Scripts of translators and language models: recurrent layers, sentences of torchtext, names that Python took."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch_xla")

from proved_scripts import SCRIPT, proved_files

from xlalint.findings.model import Basis, Evidence, Verdict

PROGRAM = """\
import torch
from torchtext.data import Field, Iterator
from torchtext.datasets import Pairs

from moving import moved

words = Field()
rows = Pairs("rows.de", "rows.en", fields=(words, words))
net = torch.nn.GRU(4, 4).cuda()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for source, target in torch.utils.data.DataLoader([(len(each.src), len(each.trg)) for each in rows.examples], 4):
    values = moved(source).float().view(1, -1, 1).expand(1, -1, 4)
    loss = net(values)[0].sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())  # read
"""
MOVING = """\
def moved(value):
    return value.cuda(async=True)
"""
DATA = """\
import torch


class Field:
    sequential = True


class Iterator:
    pass


class Example:
    @classmethod
    def fromlist(cls, row, fields):
        made = cls()
        vars(made).update((name, value.split()) for (name, _), value in zip(fields, row))
        return made


class Dataset(torch.utils.data.Dataset):
    def __init__(self, examples, fields):
        self.examples, self.fields = examples, dict(fields)


class TabularDataset(Dataset):
    def __init__(self, path, fields):
        super().__init__([open(path)], fields)
"""
SETS = """\
from torchtext import data


class Pairs(data.Dataset):
    def __init__(self, first, second, fields):
        super().__init__([open(first), open(second)], fields)
"""
VOCABULARY = """\
class Vectors:
    def cache(self, name):
        raise OSError(name)
"""


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    packages = tmp_path_factory.mktemp("packages")
    (packages / "torchtext").mkdir()
    files = {"__init__": "", "data": DATA, "datasets": SETS, "vocab": VOCABULARY}
    for name, text in files.items():
        Path(packages, "torchtext", f"{name}.py").write_text(text, encoding="utf-8")
    beside = {"beside.py": "import torch_xla\n\ntorch_xla.sync()\n", "moving.py": MOVING}
    folder = tmp_path_factory.mktemp("recurrent")
    return proved_files(folder, {SCRIPT: PROGRAM, **beside}, packages)[SCRIPT, "read"]


def test_recurrent_layers_are_rehearsed_on_the_host(evidence: Evidence) -> None:
    assert (evidence.verdict, evidence.basis) == (Verdict.CONFIRMED, Basis.SCRIPT)


def test_sentences_are_made_up(evidence: Evidence) -> None:
    assert "`Pairs` gives 64 made-up sentences, as its files are not there" in evidence.assumptions
