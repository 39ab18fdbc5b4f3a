"""What scripts do around their training: they restore what they saved, ask for figures of a GPU, choose a device."""

from __future__ import annotations

import pytest

pytest.importorskip("torch_xla")

from proved_scripts import proved

from xlalint.findings.model import Basis, Evidence, Verdict

PROGRAM = """\
import argparse

import torch
from torch.utils.tensorboard import SummaryWriter

parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cpu")
parser.add_argument("--gpu_id", type=int, default=-1)
parser.add_argument("--ngpu", type=int, default=0)
args = parser.parse_args()


class Rows(torch.utils.data.Dataset):
    def __init__(self, path):
        self.rows = read_rows(path)
        self.values = sorted({row.value for row in self.rows})

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        return torch.FloatTensor(2, 8), torch.LongTensor(2)


rows = Rows("rows.bin")
net = torch.nn.DataParallel(torch.nn.Linear(8, 2)).to(args.device)
writer = SummaryWriter()
writer.add_graph(net, torch.zeros(1, 8).to(args.device))
torch.save(net, "net.pkl")
net = torch.load("net.pkl")
optimizer = torch.optim.SGD(net.parameters(), 0.1)
assert args.gpu_id == 0 and args.ngpu == 1
for x, y in torch.utils.data.DataLoader(rows, batch_size=4):
    loss = torch.nn.functional.cross_entropy(net(x.to(args.device)).flatten(0, 1), y.to(args.device).flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item(), torch.cuda.memory_summary(), torch.cuda.memory_stats()["allocated_bytes.all.current"])  # read
state = {"net": net.state_dict(), "values": rows.values}
torch.save(state, "last.pth")
"""


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return proved(tmp_path_factory.mktemp("ways"), PROGRAM)["read"]


def test_the_script_runs_to_its_end_and_its_read_is_confirmed(evidence: Evidence) -> None:
    assert (evidence.verdict, evidence.basis) == (Verdict.CONFIRMED, Basis.SCRIPT)


def test_what_was_chosen_for_it_is_told(evidence: Evidence) -> None:
    told = "\n".join(evidence.assumptions)
    assert "`device` is cuda, where the program's default is cpu" in told
    assert "an item of `Rows` is `(torch.rand(2, 8), torch.randint(0, 2, (2,)), )`" in told
    assert "`net.pkl` restores nothing" not in told
