"""``xlalint trace`` on programs whose steps a library makes, and what a user's CI asks of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch_xla")

LIBRARY = """\
import torch
import torch_xla

class Trainer:
    def __init__(self, model):
        self.model, self.device = model.to(torch_xla.device()), torch_xla.device()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def train(self, batches, log_each=2):
        for number, batch in enumerate(batches):
            loss = self.model(batch.to(self.device)).sum()
            torch_xla.sync()  # a boundary of its own
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
            torch_xla.sync()
            if number % log_each == 1:
                self.log(loss * 2)

    def log(self, loss):
        print("loss", loss.item())  # the read
        torch_xla.sync()
"""
BOUNDARY = 16
READ = 21
PROGRAM = """\
import importlib.util
import sys

assert importlib.util.find_spec("torch_xla")  # asking is no import

import torch
from steplib import Trainer

def main(rows):
    batches = [torch.ones(count, 4) for count in rows]
    Trainer(torch.nn.Linear(4, 2)).train(batches)

if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]])
"""
CALL = 11
LOOP = """\
import torch
import torch_xla

def main():
    device = torch_xla.device()
    model = torch.nn.Linear(4, 2).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for number in range(4):
        optimizer.zero_grad()
        loss = model(torch.ones(3, 4).to(device)).sum()
        loss.backward()
        optimizer.step()
        print(loss.item(), torch.nonzero(loss.detach() + number).shape)

main()
"""
BREAKS = """\
import torch
import torch_xla

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(4, 4)

    def forward(self, x):
        x = self.inner(x)
        print("in between")  # the break
        return self.inner(x).sum()

def main():
    model = Net().to(torch_xla.device())
    for number in range(3):
        with torch.no_grad():
            model(torch.ones(3, 4).to(torch_xla.device()))
        torch_xla.sync()

main()
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("programs")
    package = folder / "env" / "site-packages" / "steplib"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from steplib.trainer import Trainer\n", encoding="utf-8")
    (package / "trainer.py").write_text(LIBRARY, encoding="utf-8")
    for name, text in (("train.py", PROGRAM), ("loop.py", LOOP), ("breaks.py", BREAKS)):
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def run(folder: Path, *options: str, program: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(folder / "env" / "site-packages")}
    environment.pop("PJRT_DEVICE", None)
    return subprocess.run(
        [sys.executable, "-m", "xlalint", "trace", *options, "--", sys.executable, *program],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def report(folder: Path, *options: str, program: tuple[str, ...]) -> dict[str, Any]:
    found = run(folder, "--output-format", "json", *options, program=program)
    assert found.returncode == 0, found.stderr
    document: dict[str, Any] = json.loads(found.stdout)
    return document


def test_the_steps_of_a_trainer_are_the_users_and_its_lines_are_told(folder: Path) -> None:
    found = report(folder, "--timeline", "timeline.json", program=("train.py", *"333333"))
    (process,) = found["processes"]
    assert (found["steps"], process["updates"], found["device"]) == (6, [1] * 6, "CPU")
    (line,) = (line for line in found["lines"] if line["line"] == CALL)
    inside = {one["line"]: one for one in line["library"] if one["path"].endswith("steplib/trainer.py")}
    assert inside[READ]["reads"] == 3
    assert inside[BOUNDARY]["executions"] == 6
    events = json.loads((folder / "timeline.json").read_text(encoding="utf-8"))["traceEvents"]
    names = [event["name"] for event in events if event["ph"] == "X"]
    assert [name for name in names if name.startswith("step")] == [f"step {number}" for number in range(1, 7)]
    assert {"compile", "graph", "waits for a value", "upload"} <= set(names)
    assert all(event["ts"] >= 0 and event["dur"] >= 0 for event in events if event["ph"] == "X")


def test_a_package_that_is_included_has_lines_of_its_own_and_a_step_may_be_named(folder: Path) -> None:
    inside = folder / "env" / "site-packages" / "steplib" / "trainer.py"
    options = ("--include", "steplib", "--step-at", f"{inside}:21")
    found = report(folder, *options, program=("train.py", *"333333"))
    lines = {line["line"]: line for line in found["lines"] if line["path"].endswith("trainer.py")}
    assert lines[READ]["reads"] == 3
    assert found["steps"] == 3


def test_what_a_condition_forbids_fails_and_names_the_line(folder: Path) -> None:
    conditions = ("--fail-on", "compiles > 0 after step 4", "--fail-on", "fallbacks > 0 a step")
    quiet = run(folder, *conditions, program=("train.py", *"333333"))
    assert quiet.returncode == 0, quiet.stderr
    again = run(folder, *conditions, program=("train.py", *"333353"))
    assert again.returncode == 1
    told = [line for line in again.stderr.splitlines() if line.startswith("xlalint: error")]
    assert len(told) == 1
    assert told[0].startswith(f"xlalint: error: compiles > 0 after step 4: 2 compiles: step 5 at train.py:{CALL}")
    assert "shape: an input was f32[3,4] and is f32[5,4]" in told[0]


def test_a_budget_is_written_kept_and_exceeded(folder: Path) -> None:
    program = ("train.py", *"333333")
    budget = ("--budget", "xla-budget.toml")
    assert run(folder, *budget, program=program).returncode == 2
    assert run(folder, *budget, "--update-budget", program=program).returncode == 0
    text = (folder / "xla-budget.toml").read_text(encoding="utf-8").replace("reads = 0.4", "reads = 0.1")
    (folder / "xla-budget.toml").write_text(text, encoding="utf-8")
    exceeded = run(folder, *budget, program=program)
    assert exceeded.returncode == 1
    assert f"0.4 reads in a steady step, the budget is 0.1: train.py:{CALL} in main (0.4)" in exceeded.stderr


def test_a_loop_without_a_boundary_is_told_as_such_and_ops_that_fall_back_by_name(folder: Path) -> None:
    found = run(folder, program=("loop.py",))
    assert found.stdout.startswith("lazy mode on CPU, exit code 0\n")
    assert "No step ends at a step boundary" in found.stdout
    assert "loop.py:13: aten::nonzero, 4 times" in found.stdout


def test_graph_breaks_have_their_reason_and_line(folder: Path) -> None:
    (one, *_) = report(folder, "--mode", "dynamo", program=("breaks.py",))["graph_breaks"]
    assert (one["path"], one["line"]) == ("breaks.py", 11)
    assert "print" in one["reason"] or "builtin" in one["reason"]
