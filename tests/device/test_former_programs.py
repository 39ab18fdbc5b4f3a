"""Scripts of former years, and with packages that are not installed: they run, and what stands in is told."""

from __future__ import annotations

import pytest

pytest.importorskip("torch_xla")

from proved_scripts import proved

from xlalint.findings.model import Basis, Evidence, Verdict

PROGRAM = """\
import numpy as np
import torch
from apex import amp
from easydict import EasyDict
from tensorboardX import SummaryWriter

import os

settings = EasyDict({"net": {"width": np.int(8)}})
log = os.path.join(SummaryWriter().log_dir, "log.txt")
net = torch.nn.Linear(settings.net.width, 1).cuda()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
net, optimizer = amp.initialize(net, optimizer, opt_level="O1")
for number in range(1000):
    loss = net(torch.randn(4, 8).cuda()).sum()
    with amp.scale_loss(loss, optimizer) as scaled:
        scaled.backward()
    optimizer.step()
    optimizer.zero_grad()
    total = loss.data[0]
    print(loss.item())  # read
"""


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return proved(tmp_path_factory.mktemp("former"), PROGRAM)["read"]


def test_a_former_program_runs_and_what_stands_in_is_told(evidence: Evidence) -> None:
    assert (evidence.verdict, evidence.basis) == (Verdict.CONFIRMED, Basis.SCRIPT), evidence.reason
    assert "`x[0]` of a tensor without dimensions is its number, as in torch 0.3" in evidence.assumptions
    assert "`apex` is not installed, and is called for its effect only" in evidence.assumptions
