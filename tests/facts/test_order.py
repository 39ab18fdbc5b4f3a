"""The order of the files, the number of processes and the working directory change nothing in what is found."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from xlalint.facts.driver.analysis import analyse
from xlalint.facts.events import Event
from xlalint.facts.options import Assumptions
from xlalint.findings.configuration import Configurations
from xlalint.findings.model import Diagnostic
from xlalint.findings.settings import defaults
from xlalint.linting import Options, lint
from xlalint.sources.source import Source

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = {
    "pkg/__init__.py": "from pkg.metrics import Mean, Accuracy\nfrom pkg.loop import fit\n",
    "pkg/base.py": """\
import torch

from pkg import helpers


class Metric(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.states = {}

    def add_state(self, name, default):
        setattr(self, name, default)
        self.states[name] = default

    def forward(self, *args):
        self.update(*args)
        return self.compute()

    def update(self, preds, target):
        raise NotImplementedError

    def compute(self):
        return helpers.number(self.total)
""",
    "pkg/helpers.py": """\
import torch

from pkg import base


def number(value):
    return value.item()


def check(preds: torch.Tensor, target=None):
    if preds.min() < 0:
        raise ValueError("negative")
    if target is not None and target.max() > preds.shape[-1]:
        return preds[target > 0]
    return preds


def is_metric(value):
    return isinstance(value, base.Metric)
""",
    "pkg/metrics.py": """\
import torch

from .base import Metric
from .helpers import check


class Mean(Metric):
    def __init__(self):
        super().__init__()
        self.add_state("total", torch.zeros(()))

    def update(self, preds, target):
        self.total = self.total + check(preds, target).sum()


class Accuracy(Mean):
    def update(self, preds, target):
        kept = preds[target.bool()]
        super().update(kept, target)
        if self.total > 3:
            self.total = self.total * 0

    def compute(self):
        return float(self.total) if self.training else super().compute()
""",
    "pkg/loop.py": """\
import torch
import torch_xla

from . import metrics
from .helpers import is_metric, number


def fit(model, loader, optimizer, names):
    metric = metrics.Accuracy() if "accuracy" in names else metrics.Mean()
    history = []
    for step, (x, y) in enumerate(loader):
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        history.append(number(loss))
        metric.update(model(x), y)
        if step % 10 == 0 and is_metric(metric):
            print(metric.compute(), history[-1])
        torch_xla.sync()
    return metric.compute()
""",
    "run.py": """\
import pkg
from pkg.metrics import Accuracy
from other import state


def main(model, loader, optimizer):
    pkg.fit(model, loader, optimizer, ["accuracy"])
    for x, y in loader:
        print(Accuracy()(model(x), y), state.last.item())


if __name__ == "__main__":
    main(None, None, None)
""",
    "other.py": """\
import run
import torch


class State:
    last = torch.zeros(3, device="xla")

    def take(self, value):
        self.last = value.detach()
        return self.last.tolist() if value.sum() > 0 else run.main


state = State()
""",
}


def sources() -> list[Source]:
    examples = sorted((ROOT / "examples").rglob("*.py"))
    assert examples
    return [Source(str(path), path.read_text(encoding="utf-8"), "utf-8") for path in examples]


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for name, text in PACKAGE.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path


def facts(files: Sequence[Source], jobs: int = 1) -> dict[str, list[Event]]:
    """All events of each file, however sure and however seldom, in their order."""
    found = {}
    for source, known in analyse(files, lambda _: Assumptions(assume_xla=True), Options(jobs=jobs)):
        assert not known.failures
        found[source.path] = [event for events in known.facts._by_effect.values() for event in events]
    return found


def of_package(folder: Path) -> list[Source]:
    return [Source(str(folder / name), text, "utf-8") for name, text in PACKAGE.items()]


def test_there_is_something_to_find(package: Path) -> None:
    found = facts(of_package(package))
    assert sum(map(len, found.values())) > 10
    assert sum(map(len, facts(sources()).values())) > 20


@pytest.mark.parametrize("seed", range(4))
def test_the_order_of_the_files_does_not_matter(package: Path, seed: int) -> None:
    for files in (sources(), of_package(package)):
        shuffled = random.Random(seed).sample(files, len(files))
        assert facts(shuffled) == facts(files)


@pytest.mark.parametrize("jobs", [2, 3])
def test_the_number_of_processes_does_not_matter(package: Path, jobs: int) -> None:
    for files in (sources(), of_package(package)):
        assert facts(files, jobs) == facts(files)


def test_the_working_directory_does_not_matter(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for folder, path in ((package, "."), (package / "pkg", ".."), (ROOT, str(package))):
        monkeypatch.chdir(folder)
        report = lint([Path(path)], Configurations(fixed=defaults()), Options(jobs=1))
        found.append(sorted(told_below(one, package) for one in report.diagnostics))
    assert found[0]
    assert found[0] == found[1] == found[2]


def told_below(one: Diagnostic, folder: Path) -> str:
    """All of a finding as text, with its paths below ``folder``: a message may name a file too. The ids of roots hold
    within one report."""
    if one.root is not None:
        one = msgspec.structs.replace(one, root=msgspec.structs.replace(one.root, id=""))
    text = msgspec.json.encode(one).decode()
    for name in PACKAGE:
        text = text.replace(os.path.relpath(folder / name).replace(os.sep, "/"), name).replace(str(folder / name), name)
    return text


@pytest.mark.parametrize("alone", ["pkg/loop.py", "run.py"])
def test_hashes_of_strings_do_not_matter(package: Path, alone: str) -> None:
    """Sets of strings are ordered by a hash that differs from run to run."""
    outputs = set()
    for seed in ("0", "1", "2"):
        run = subprocess.run(
            [sys.executable, "-m", "xlalint", "--isolated", "--assume-xla", "--output-format", "concise", alone, "."],
            cwd=package,
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 1, run.stderr
        outputs.add("\n".join(line for line in run.stdout.splitlines() if ":" in line and " checked" not in line))
    assert len(outputs) == 1
