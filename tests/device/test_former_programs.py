"""Scripts of former years, and with packages that are not installed: they run, and what stands in is told."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch_xla")

from xlalint.device.validation.trials import Settings
from xlalint.findings.configuration import Configurations
from xlalint.findings.model import Basis, Diagnostic, Verdict
from xlalint.linting import Options, lint
from xlalint.validating import validate

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
def found(tmp_path_factory: pytest.TempPathFactory) -> Diagnostic:
    folder = tmp_path_factory.mktemp("former")
    (folder / "former.py").write_text(PROGRAM, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        # Somebody in the project uses XLA.
        Path("beside.py").write_text("import torch_xla\n\ntorch_xla.sync()\n", encoding="utf-8")
        report = lint([Path()], Configurations(), Options(jobs=1))
        proved = validate(report, Configurations(), Settings(steps=4), folders=[str(folder)])
    return next(one for one in proved.diagnostics if "# read" in _line(one.at.line))


def _line(number: int) -> str:
    return PROGRAM.splitlines()[number - 1]


def test_a_former_program_runs_and_what_stands_in_is_told(found: Diagnostic) -> None:
    told = found.evidence
    assert told is not None
    assert (told.verdict, told.basis) == (Verdict.CONFIRMED, Basis.SCRIPT), told.reason
    assert "`x[0]` of a tensor without dimensions is its number, as in torch 0.3" in told.assumptions
    assert "`apex` is not installed, and is called for its effect only" in told.assumptions
