"""What a run of a script may take and read, and what it may say of a program of which a part is left out."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

pytest.importorskip("torch_xla")

from proved_scripts import SCRIPT, proved

from xlalint.cli import main
from xlalint.device.validation.case import Settings
from xlalint.findings.configuration import Configurations
from xlalint.findings.model import Basis, Verdict
from xlalint.linting import Options, lint
from xlalint.validating import validate

OF_A_MODULE_BESIDE = """\
import torch
import torch_xla

from sizes import WIDTH

device = torch_xla.device()
net = torch.nn.Linear(WIDTH, 1).to(device)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for _ in range(100):
    loss = net(torch.rand(4, WIDTH, device=device)).mean()
    loss.backward()
    optimizer.step()
    print(loss.item())  # read
    torch_xla.sync()
"""
THAT_SLEEPS = """\
import time

import torch
import torch_xla

net = torch.nn.Linear(2, 1).to(torch_xla.device())
time.sleep(280)
for _ in range(100):
    loss = net(torch.rand(4, 2, device=torch_xla.device())).mean()
    loss.backward()
    torch_xla.sync()
    print(loss.item())  # read
"""
WITH_A_FAILING_REPORT = """\
import json

import torch

net = torch.nn.Linear(2, 1).cuda()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
values = torch.rand(4).tolist()
for number in range(100):
    loss = net(torch.rand(4, 2).cuda()).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())  # read
    with torch.cuda.amp.autocast():  # casts nothing
        print(json.loads("")["of the last run"])
"""


def test_a_script_that_is_named_alone_imports_what_lies_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "training").mkdir()
    (tmp_path / "training" / "sizes.py").write_text("WIDTH = 2\n", encoding="utf-8")
    (tmp_path / "training" / SCRIPT).write_text(OF_A_MODULE_BESIDE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["validate", f"training/{SCRIPT}", "--only", "XLA101", "--steps", "4", "--output-format", "json"]) == 1
    (evidence,) = (one["evidence"] for one in json.loads(capfd.readouterr().out)["findings"] if one["code"] == "XLA101")
    assert (evidence["verdict"], evidence["basis"]) == ("confirmed", "script"), evidence["reason"]


def test_a_budget_ends_a_run_that_has_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / SCRIPT).write_text(THAT_SLEEPS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    report = lint([Path()], Configurations(), Options(jobs=1))
    began = time.monotonic()
    found = validate(report, Configurations(), Settings(steps=4), folders=[str(tmp_path)], budget=30.0)
    # The script does not come to it in time; what is cut out of it does.
    assert {one.evidence.basis for one in found.diagnostics if one.evidence is not None} == {Basis.SLICE}
    assert time.monotonic() - began < 240, "a run may take 300 s where no budget is named"


def test_a_program_of_which_a_part_is_left_out_refutes_nothing(tmp_path: Path) -> None:
    found = proved(tmp_path, WITH_A_FAILING_REPORT)
    read, cast = found["read"], found.get("casts nothing")
    assert (read.verdict, read.basis) == (Verdict.CONFIRMED, Basis.SCRIPT), read.reason
    assert any("is left out, as it fails: JSONDecodeError" in each for each in read.assumptions)
    assert cast is None or cast.verdict is not Verdict.REFUTED
