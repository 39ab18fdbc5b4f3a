"""A script that takes its model from the file of a former run, or else from a configuration; it asks git for a tag."""

from __future__ import annotations

import pytest

pytest.importorskip("torch_xla")

from proved_scripts import USES_XLA, proved_files

from xlalint.findings.model import Basis, Evidence, Verdict

PROGRAM = """\
import argparse
import json
import subprocess

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--weights", default="former.pt")
parser.add_argument("--cfg", default="")
args = parser.parse_args()
assert args.weights or args.cfg, "either --cfg or --weights must be specified"
print(subprocess.check_output(["git", "describe", "--tags"]).decode().split()[-1])
if args.weights:
    net = torch.load(args.weights)["model"].float().cuda()
else:
    with open(args.cfg) as file:
        net = torch.nn.Linear(json.load(file)["width"], 1).cuda()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for x in torch.utils.data.DataLoader(torch.rand(64, 8), batch_size=4):
    optimizer.zero_grad()
    loss = net(x.cuda()).mean()
    loss.backward()
    optimizer.step()
    print(loss.item())  # read
"""


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    files = {
        "train.py": PROGRAM,
        "beside.py": USES_XLA,
        "cfg/small.json": '{"width": 8}',
        "data/names.json": '{"names": []}',
    }
    return proved_files(tmp_path_factory.mktemp("weights"), files)["train.py", "read"]


def test_the_read_of_its_loss_is_confirmed_by_the_script(evidence: Evidence) -> None:
    assert (evidence.verdict, evidence.basis) == (Verdict.CONFIRMED, Basis.SCRIPT), evidence.reason


def test_what_it_is_started_with_is_an_assumption(evidence: Evidence) -> None:
    assert "`weights` is '', where the program's default is 'former.pt'" in evidence.assumptions
    assert "`cfg` is './cfg/small.json', where the program's default is ''" in evidence.assumptions
    assert "`git` is taken for done: it fails here" in evidence.assumptions
