"""What a user sees of a finding: one real program through the whole of the tool."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import Xlalint

PROGRAM = """\
import torch
import torch_xla


def train(model, loader, optimizer):
    device = torch_xla.device()
    total = 0.0
    for batch, target in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(batch.to(device)), target.to(device))
        loss.backward()
        optimizer.step()
        total += loss.item()
        torch_xla.sync()
    return total
"""
READ = "        total += loss.item()\n"
LINE = PROGRAM[: PROGRAM.index(READ)].count("\n") + 1


@pytest.fixture(autouse=True)
def _program(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)


def findings(xlalint: Xlalint, *arguments: str, stdin: bytes = b"") -> list[tuple[str, str, int, int]]:
    report = json.loads(xlalint("--output-format", "json", *arguments, stdin=stdin).out)
    return [(one["code"], one["path"], one["line"], one["column"]) for one in report["findings"]]


def test_the_read_is_found_where_it_stands(xlalint: Xlalint) -> None:
    assert ("XLA101", "train.py", LINE, 18) in findings(xlalint, ".")
    assert findings(xlalint, "train.py") == findings(xlalint, ".")
    assert xlalint(".").code == 1


def test_it_is_shown_with_its_frame_and_its_help(xlalint: Xlalint) -> None:
    shown = xlalint("--select", "XLA101", ".").out
    assert "XLA101" in shown
    assert f"train.py:{LINE}:18" in shown
    assert "total += loss.item()" in shown
    assert "^^^^^^^^^^^" in shown


def test_options_choose_what_is_found(xlalint: Xlalint) -> None:
    assert not findings(xlalint, "--select", "XLA2", ".")
    assert not [one for one in findings(xlalint, "--ignore", "scalar-read-in-step", ".") if one[0] == "XLA101"]
    assert xlalint("--select", "XLA101", "--exit-zero", ".").code == 0
    assert xlalint("--select", "XLA101", "--fail-on", "error", ".").code == 0
    assert not findings(xlalint, "--select", "XLA101", "--exclude", "train.py", ".")


def test_comments_silence_it_and_can_be_overruled(xlalint: Xlalint) -> None:
    Path("train.py").write_text(PROGRAM.replace(READ, READ.rstrip() + "  # xlalint: ignore[XLA101] on purpose\n"))
    assert xlalint("--select", "XLA101", ".").code == 0
    assert xlalint("--select", "XLA101", "--ignore-suppressions", ".").code == 1
    assert not findings(xlalint, "--select", "XLA101,XLA001", ".")
    Path("train.py").write_text(PROGRAM.replace("import torch\n", "import torch  # xlalint: ignore\n", 1))
    assert ("XLA001", "train.py", 1, 15) in findings(xlalint, "--extend-select", "XLA001", ".")


def test_a_noqa_that_was_written_for_another_tool_silences_nothing(xlalint: Xlalint) -> None:
    for comment, code in (("# noqa", 1), ("# noqa: E501", 1), ("# noqa: E501, XLA101", 0)):
        Path("train.py").write_text(PROGRAM.replace(READ, f"{READ.rstrip()}  {comment}\n"))
        assert xlalint("--select", "XLA101", ".").code == code


def test_standard_input_is_linted_under_its_name(xlalint: Xlalint) -> None:
    piped = findings(xlalint, "-", "--stdin-filename", "pkg/other.py", stdin=PROGRAM.encode())
    assert ("XLA101", "pkg/other.py", LINE, 18) in piped
    assert [one[2:] for one in piped] == [one[2:] for one in findings(xlalint, "train.py")]


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
def test_line_ends_and_marks_move_nothing(xlalint: Xlalint, ending: str) -> None:
    before = findings(xlalint, ".")
    Path("train.py").write_bytes(b"\xef\xbb\xbf" + PROGRAM.replace("\n", ending).encode())
    assert findings(xlalint, ".") == before


def test_statistics_count_by_rule(xlalint: Xlalint) -> None:
    rows = xlalint("--statistics", "--select", "XLA101", ".").out.splitlines()
    assert rows[0].split()[:3] == ["1", "XLA101", "scalar-read-in-step"]


def test_broken_neighbours_do_not_hide_it(xlalint: Xlalint) -> None:
    Path("broken.py").write_text("import torch\ndef f(:\n")
    outcome = xlalint("--select", "XLA101", ".")
    assert outcome.code == 1
    assert [line.partition(": ")[2].partition(":")[0] for line in outcome.errors] == ["warning"]


def test_a_line_is_explained(xlalint: Xlalint) -> None:
    outcome = xlalint("explain", f"train.py:{LINE}")
    assert outcome.code == 0
    assert "loss" in outcome.out


@pytest.mark.parametrize("form", ["sarif", "gitlab", "junit", "rdjson", "markdown", "github"])
def test_each_format_of_ci_names_the_read(xlalint: Xlalint, form: str) -> None:
    outcome = xlalint("--output-format", form, "--select", "XLA101", ".")
    assert outcome.code == 1
    assert "XLA101" in outcome.out
    assert str(LINE) in outcome.out
    assert xlalint("--output-format", form, "-o", "report", "--select", "XLA101", ".").out == ""
    assert Path("report").read_text() == outcome.out


def test_a_clean_run_lists_all_rules_in_sarif(xlalint: Xlalint) -> None:
    Path("clean").mkdir()
    Path("clean/a.py").write_text("x = 1\n")
    (run,) = json.loads(xlalint("--output-format", "sarif", "clean").out)["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert rules == [line.split()[0] for line in xlalint("rule").out.splitlines()]
    assert run["results"] == []
