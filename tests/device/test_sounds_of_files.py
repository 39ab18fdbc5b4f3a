"""A script that reads sounds which are not there, and whose layers take more dimensions than torch's do today."""

from __future__ import annotations

import pytest

pytest.importorskip("torch_xla")
pytest.importorskip("scipy")

from proved_scripts import USES_XLA, proved_files

from xlalint.findings.model import Basis, Evidence, Verdict

PROGRAM = """\
import json

import torch
from scipy.io.wavfile import read

with open("config.json") as file:
    settings = json.load(file)


class Sounds(torch.utils.data.Dataset):
    def __init__(self, paths):
        self.paths = paths

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        rate, samples = read(self.paths[index])
        if rate != settings["rate"]:
            raise ValueError(f"{self.paths[index]} has {rate} samples a second")
        return torch.from_numpy(samples)[: 2 * 512].float().view(1, 2, 512) / 32768


net = torch.nn.Conv1d(1, 1, kernel_size=(1, 4)).cuda()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
data = Sounds([f"wavs/{number}.wav" for number in range(64)])
for x in torch.utils.data.DataLoader(data, batch_size=4):
    optimizer.zero_grad()
    loss = net(x.cuda()).square().mean()
    loss.backward()
    optimizer.step()
    print(loss.item())  # read
"""


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    files = {"train.py": PROGRAM, "beside.py": USES_XLA, "config.json": '{"rate": 16000, "epochs": 48000}'}
    return proved_files(tmp_path_factory.mktemp("sounds"), files)["train.py", "read"]


def test_the_read_of_its_loss_is_confirmed_by_the_script(evidence: Evidence) -> None:
    assert (evidence.verdict, evidence.basis) == (Verdict.CONFIRMED, Basis.SCRIPT), evidence.reason


def test_what_is_read_and_what_former_layers_took_are_assumptions(evidence: Evidence) -> None:
    assert "sounds that are not there are made up: 2 s of 16000 samples each" in evidence.assumptions
    assert any(each.startswith("`Conv1d` takes images") for each in evidence.assumptions)
    assert not any("made-up items" in each for each in evidence.assumptions)
