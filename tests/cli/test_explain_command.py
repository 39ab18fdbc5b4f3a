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
