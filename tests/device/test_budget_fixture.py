"""The fixture ``xla_budget``, as a user's tests have it."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch_xla")

MODEL = """\
import torch
import torch_xla

def step(rows):
    loss = torch.ones(rows, 4).to(torch_xla.device()).sum()
    torch_xla.sync()
    return loss.item()
"""
TESTS = """\
import sys
from model import step

def test_the_same_again(xla_budget):
    step(3)
    with xla_budget(reads=1, executions=1):
        step(3)

def test_another_shape(xla_budget):
    step(4)
    with xla_budget():
        step(5)

def test_more_reads(xla_budget):
    step(6)
    with xla_budget(reads=0):
        step(6)

def test_what_is_allowed(xla_budget):
    with xla_budget(compiles=None, reads=1):
        step(7)

def test_an_error_of_its_own(xla_budget):
    before = sys.gettrace()
    try:
        with xla_budget():
            step(8)
            raise KeyError("its own")
    except KeyError:
        pass
    assert sys.gettrace() == before
"""


def plugin() -> list[str]:
    """An installed package brings it by itself; a checkout that was installed before it was there does not."""
    installed = importlib.metadata.entry_points(group="pytest11", name="xlalint")
    return [] if installed else ["-p", "xlalint.pytest_plugin"]


def test_a_block_that_costs_more_fails_its_test_and_names_the_line(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    (tmp_path / "test_model.py").write_text(TESTS, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugin(), "--rootdir", str(tmp_path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "2 failed, 3 passed" in run.stdout, run.stdout
    assert "1 compiles, and the budget is 0\n  1 at model.py:6 in step" in run.stdout
    assert "1 reads, and the budget is 0\n  1 at model.py:7 in step" in run.stdout


def test_the_plugin_imports_nothing_before_it_is_asked(tmp_path: Path) -> None:
    (tmp_path / "test_nothing.py").write_text(
        "import sys\n\ndef test_nothing():\n    assert not {'torch', 'torch_xla', 'msgspec'} & set(sys.modules)\n",
        encoding="utf-8",
    )
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *plugin(), "--rootdir", str(tmp_path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout
