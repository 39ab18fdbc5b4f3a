"""``xlalint explain``: what the rules make of a line, beside what is known of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import Xlalint

PROGRAM = """\
import torch_xla


def train(model, loader, optimizer):
    for x in loader:
        loss = model(x).sum()
        loss.backward()
        optimizer.step()
        print(loss.item())
        torch_xla.sync()
"""
READ = PROGRAM[: PROGRAM.index("print")].count("\n") + 1


@pytest.fixture(autouse=True)
def _program(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)


def findings(xlalint: Xlalint, *arguments: str) -> list[str]:
    outcome = xlalint("explain", *arguments, f"train.py:{READ}")
    assert outcome.code == 0
    return [row.strip() for row in outcome.out.partition("  findings\n")[2].splitlines()]


def test_a_finding_is_named(xlalint: Xlalint) -> None:
    (told,) = findings(xlalint)
    assert told.startswith("XLA101 scalar-read-in-step, warning: ")


def test_what_the_settings_leave_out_is_named(xlalint: Xlalint) -> None:
    (told,) = findings(xlalint, "--ignore", "XLA101")
    assert told.startswith("XLA101 scalar-read-in-step: left out by the settings")


def test_a_comment_that_silences_it_is_shown(xlalint: Xlalint) -> None:
    Path("train.py").write_text(PROGRAM.replace("loss.item())", "loss.item())  # xlalint: ignore[XLA101] wanted"))
    (told,) = findings(xlalint)
    assert "silenced by `# xlalint: ignore[XLA101]" in told


def test_a_line_without_findings_has_none(xlalint: Xlalint) -> None:
    outcome = xlalint("explain", f"train.py:{READ + 1}")
    assert outcome.out.endswith("findings\n    none\n")


def test_a_file_that_cannot_be_parsed_is_one_line(xlalint: Xlalint) -> None:
    Path("train.py").write_text("import torch\ndef f(:\n")
    outcome = xlalint("explain", "train.py:1")
    assert outcome.code == 2
    (line,) = outcome.errors
    assert line.startswith("xlalint: error: train.py: ")


LIBRARY = """\
import torch


def _limited(loss: torch.Tensor, most):
    if most and loss > most:
        return loss * 0
    return loss
"""
CALLER = """\
import torch_xla

from package.library import _limited


def train(model, loader, optimizer):
    for x in loader:
        loss = _limited(model(x).sum(), 3)
        loss.backward()
        optimizer.step()
        torch_xla.sync()
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    (tmp_path / "package").mkdir()
    (tmp_path / "package/__init__.py").write_text("")
    (tmp_path / "package/library.py").write_text(LIBRARY)
    (tmp_path / "package/caller.py").write_text(CALLER)
    return tmp_path / "package"


def told_with(xlalint: Xlalint, *paths: str) -> str:
    outcome = xlalint("explain", "package/library.py:5", *paths)
    assert outcome.code == 0
    return outcome.out


@pytest.mark.usefixtures("package")
def test_with_paths_a_line_is_told_as_a_run_over_them_finds_it(xlalint: Xlalint) -> None:
    alone = told_with(xlalint)
    assert "assumed, because" in alone
    for paths in (["package"], ["package/caller.py"], ["package/library.py", "package", "package/caller.py"]):
        told = told_with(xlalint, *paths)
        assert "in every step, by the loop at package/caller.py:7" in told
        assert "train calls _limited at package/caller.py:8" in told
        (found,) = told.partition("  findings\n")[2].splitlines()
        assert found.strip().startswith("XLA201 branch-on-tensor, warning: ")
        assert f"{found.strip().partition(': ')[2]}\n" in xlalint("check", "package", "--output-format", "concise").out


@pytest.mark.usefixtures("package")
def test_the_file_is_told_as_it_is_whatever_its_folder_leaves_out(xlalint: Xlalint) -> None:
    told = told_with(xlalint, "package", "--exclude", "library.py")
    assert "train calls _limited" in told


def test_a_path_that_is_not_there_is_one_line(xlalint: Xlalint) -> None:
    outcome = xlalint("explain", f"train.py:{READ}", "nowhere")
    assert outcome.code == 2
    assert outcome.errors == ["xlalint: error: nowhere: no such file or folder"]
