"""Findings whose cost shows in the rest of the step are run with all of it."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch_xla")

from xlalint.device.validation.case import Settings
from xlalint.findings.model import Diagnostic, Verdict
from xlalint.linting import Options, lint
from xlalint.testing import selecting
from xlalint.validating import validate

HEAD = """\
import random

import torch
import torch_xla


def scaled(module, given, out):
    return out * 0.9


@torch.compile(backend="openxla")
def printing(x):
    x = torch.tanh(x)
    print("half")
    return torch.tanh(x)


def train(net, loader, optimizer):
    device = torch_xla.device()
    for step, x in enumerate(loader):
        x = x.to(device)
"""
TAIL = """
        net(x).sum().backward()
        optimizer.step()
        torch_xla.sync()
"""
COSTLY = {
    "XLA404": "net.register_forward_hook(scaled)",
    "XLA207": "for _ in range(step + 2):\n            x = torch.tanh(x)",
    "XLA602": "x = printing(x)",
    "XLA130": "x = x + torch.tensor([0.25, 0.5]).to(device).sum()",
}


def validated(text: str, code: str, folder: Path) -> Diagnostic:
    (folder / "program.py").write_text(text, encoding="utf-8")
    configurations = selecting([code])
    report = lint([folder / "program.py"], configurations, Options(jobs=1))
    (found,) = (one for one in validate(report, configurations, Settings(), only=frozenset({code})).diagnostics)
    return found


@pytest.mark.parametrize(("code", "line"), COSTLY.items(), ids=COSTLY)
def test_the_rest_of_the_step_confirms_it(
    code: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PJRT_DEVICE", "CPU")
    found = validated(f"{HEAD}        {line}{TAIL}", code, tmp_path)
    assert found.evidence is not None
    assert found.evidence.verdict is Verdict.CONFIRMED, found.evidence.reason


def test_a_step_that_is_not_in_sight_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PJRT_DEVICE", "CPU")
    text = (
        "import random\n\nimport torch\n\n\nclass Encoder(torch.nn.Module):\n"
        "    def forward(self, x: torch.Tensor) -> torch.Tensor:\n"
        "        if random.random() < 0.5:\n            x = torch.tanh(x)\n        return x\n"
    )
    found = validated(text, "XLA208", tmp_path)
    assert found.evidence is not None
    assert found.evidence.verdict is Verdict.NOT_RUN
    assert "not in sight" in found.evidence.reason
