"""Places that a script comes to by another value of one of its options only."""

from __future__ import annotations

import pytest

pytest.importorskip("torch_xla")

from proved_scripts import proved

from xlalint.findings.model import Basis, Evidence, Verdict

PROGRAM = """\
import argparse

import torch
import torch_xla

parser = argparse.ArgumentParser()
parser.add_argument("--method", default="plain", help="plain or watched")
parser.add_argument("--loud", action="store_true")
parser.add_argument("--level", type=int, choices=[0, 1, 2], default=0)
args = parser.parse_args()
device = torch_xla.device()
net = torch.nn.Linear(8, 2).to(device)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(100):
    loss = net(torch.randn(4, 8).to(device)).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if args.method == "watched":
        print(loss.item())  # by a compared value
    if args.loud:
        print(loss.detach().cpu())  # by a switch
    if args.level > 1:
        print(loss.tolist())  # by a choice
    if args.method == "watched" and args.loud:
        print(loss.cpu())  # by two
    torch_xla.sync()
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Evidence]:
    return proved(tmp_path_factory.mktemp("commands"), PROGRAM)


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("by a compared value", "`method` is 'watched', where the program's default is 'plain'"),
        ("by a switch", "`loud` is True, where the program's default is False"),
        ("by a choice", "`level` is 2, where the program's default is 0"),
    ],
)
def test_a_place_is_come_to_by_the_option_that_asks_for_it(found: dict[str, Evidence], place: str, told: str) -> None:
    assert (found[place].verdict, found[place].basis) == (Verdict.CONFIRMED, Basis.SCRIPT)
    assert told in found[place].assumptions


def test_a_place_behind_two_options_is_not_come_to(found: dict[str, Evidence]) -> None:
    assert found["by two"].basis is not Basis.SCRIPT
