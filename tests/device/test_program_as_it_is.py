"""`validate --run`: a program with its own command line and data, in a copy of its folder, up to some steps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch_xla")

from xlalint.cli import main

PROGRAM = """\
import argparse
import os

import torch
import torch_xla

from pkg.reading import rows

parser = argparse.ArgumentParser()
parser.add_argument("--width", type=int, required=True)
parser.add_argument("--trace", action="store_true")
args = parser.parse_args()
device = torch_xla.device()
data = torch.utils.data.TensorDataset(rows("rows.txt"))
loader = torch.utils.data.DataLoader(data, batch_size=5)
net = torch.nn.Linear(8, args.width).to(device)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for epoch in range(100):
    for (x,) in loader:
        assert x.shape == (5, 8), "as many rows as the program asks for"
        loss = net(x.to(device)).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        print(loss.item())  # in each step
        if args.trace:
            print(loss.item())  # never
        torch_xla.sync()
    with open("rows.txt", "w") as file:
        file.write("gone")
    torch.save(net.state_dict(), "model.pt")
    torch.cuda.synchronize()  # raises
"""
READING = """\
import torch


def rows(path):
    with open(path) as file:
        return torch.tensor([[float(each) for each in line.split()] for line in file])
"""
WITHOUT_BOUNDARY = """\
import torch
import torch_xla

device = torch_xla.device()
net = torch.nn.Linear(8, 1).to(device)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for number in range(1000):  # no boundary
    optimizer.zero_grad()
    net(torch.randn(4, 8).to(device)).sum().backward()
    optimizer.step()
"""
ROWS = "\n".join(" ".join(str(row + column / 8) for column in range(8)) for row in range(40))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "pkg").mkdir()
    for name, text in {
        "pkg/__init__.py": "",
        "pkg/reading.py": READING,
        "pkg/train.py": PROGRAM,
        "without_boundary.py": WITHOUT_BOUNDARY,
        "unrelated.py": WITHOUT_BOUNDARY,
        "rows.txt": ROWS,
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def evidence_of(capfd: pytest.CaptureFixture[str], *arguments: str) -> dict[tuple[str, str], dict[str, Any]]:
    """By the comment on the flagged line, and the rule."""
    main(["validate", "--isolated", "--run", "--steps", "4", "-j", "1", "--output-format", "json", *arguments])
    found = json.loads(capfd.readouterr().out)["findings"]
    lines = {each["path"]: Path(each["path"]).read_text(encoding="utf-8").splitlines() for each in found}
    return {
        (lines[each["path"]][each["line"] - 1].partition("# ")[2], each["code"]): each["evidence"] for each in found
    }


def test_a_program_runs_with_its_own_arguments_and_data(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    found = evidence_of(capfd, "--", "python", "-m", "pkg.train", "--width", "3")
    read = found["in each step", "XLA101"]
    assert (read["verdict"], read["basis"], read["assumptions"]) == ("confirmed", "run", [])
    never = found["never", "XLA101"]
    assert (never["verdict"], never["reason"]) == ("not-run", "`train.py` does not come to it in its 4 steps")
    assert found["raises", "XLA506"]["verdict"] == "confirmed"
    assert (folder / "rows.txt").read_text(encoding="utf-8") == ROWS
    assert not (folder / "model.pt").exists()


def test_a_command_line_that_the_program_refuses_is_told(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    found = evidence_of(capfd, "--", "python", "-m", "pkg.train")
    assert found["in each step", "XLA101"]["reason"] == "`train.py` does not come to it: SystemExit: 2"


def test_steps_that_nothing_ends_stay_open(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    ((place, evidence),) = evidence_of(capfd, "--", "python", "without_boundary.py").items()
    assert place == ("no boundary", "XLA402")
    assert (evidence["verdict"], evidence["basis"]) == ("confirmed", "run")
    assert evidence["assumptions"] == []
