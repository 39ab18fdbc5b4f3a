"""A script that only `python -m` starts, beside a module called like its package; names that are gone from modules."""

from __future__ import annotations

import pytest

pytest.importorskip("torch_xla")
pytest.importorskip("torchvision")

from proved_scripts import proved_files

from xlalint.findings.model import Basis, Evidence, Verdict

NET = """\
import torch
import torch_xla.distributed.parallel_loader as pl


class Loader(pl.MpDeviceLoader):
    pass


class Net(torch.nn.Linear):
    pass
"""
PROGRAM = """\
import torch
import torch_xla
from torchvision.transforms.functional import _get_image_size_of_former_years
from trainer.net import Loader, Net

from .net import Net as Same

assert Net is Same
device = torch_xla.device()
net = Net(8, 1).to(device)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for x in Loader(torch.utils.data.DataLoader(torch.rand(64, 8), batch_size=4), device):
    optimizer.zero_grad()
    loss = net(x).mean()
    loss.backward()
    optimizer.step()
    print(loss.item())  # read
"""


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    files = {
        "trainer/__init__.py": "",
        "trainer/trainer.py": "",
        "trainer/net.py": NET,
        "trainer/train.py": PROGRAM,
    }
    return proved_files(tmp_path_factory.mktemp("package"), files)["trainer/train.py", "read"]


def test_the_read_of_its_loss_is_confirmed_by_the_script(evidence: Evidence) -> None:
    assert (evidence.verdict, evidence.basis) == (Verdict.CONFIRMED, Basis.SCRIPT), evidence.reason


def test_a_name_that_is_gone_from_a_module_is_an_assumption(evidence: Evidence) -> None:
    module, name = "torchvision.transforms.functional", "_get_image_size_of_former_years"
    assert f"`{module}` has no `{name}` any more, which is called for its effect only" in evidence.assumptions
