"""Exit codes: the table of docs/configuration.md, cell by cell, by the real command on real files."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

import msgspec
import pytest
from commands import Xlalint
from diagnosed import diagnostic

from xlalint.cli.check import Output, exit_code
from xlalint.findings.configuration import Configurations
from xlalint.findings.model import Diagnostic, Report, Severity, Skipped

FOUND = diagnostic()
OUTPUT = Output("text", None, "auto", False, False, False, False, False, False)
STEP = """\
import torch


def train(loader, model):
    for x in loader:
        loss = model(x).sum()
{}        loss.backward()
"""
FINDING = STEP.format("        print(loss.item())\n")
NONE = STEP.format("")
BROKEN = "\n\ndef unlucky(x: torch.Tensor):\n    return x\n"
UNREADABLE = "import torch\nx = (\n"
# What happened, with findings and without: exit codes plainly, with --strict and with --exit-zero.
TABLE = {
    ("nothing", "findings"): (1, 1, 0),
    ("nothing", "none"): (0, 0, 0),
    ("internal", "findings"): (1, 2, 2),
    ("internal", "none"): (2, 2, 2),
    ("unreadable", "findings"): (1, 2, 0),
    ("unreadable", "none"): (0, 2, 0),
    ("unreadable", "nothing linted"): (2, 2, 2),
    ("option", "findings"): (2, 2, 2),
    ("option", "none"): (2, 2, 2),
}
CELLS = [
    (what, rest, how, form)
    for (what, rest), how, form in itertools.product(TABLE, ("plain", "strict", "exit-zero"), ("text", "json"))
]


def laid_out(what: str, rest: str) -> list[str]:
    """Writes the files of a row, and gives what the command is asked."""
    if rest != "nothing linted":
        text = FINDING if rest == "findings" else NONE
        Path("train.py").write_text(text + (BROKEN if what == "internal" else ""))
    if what == "unreadable":
        Path("broken.py").write_text(UNREADABLE)
    return [".", *(["--select", "XLA999"] if what == "option" else [])]


@pytest.mark.usefixtures("unlucky")
@pytest.mark.parametrize(("what", "rest", "how", "form"), CELLS)
def test_each_cell_of_the_table(
    xlalint: Xlalint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, rest: str, how: str, form: str
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = laid_out(what, rest)
    outcome = xlalint(*arguments, "--output-format", form, *([] if how == "plain" else [f"--{how}"]))
    assert outcome.code == TABLE[what, rest][("plain", "strict", "exit-zero").index(how)]
    if what == "internal":
        assert re.fullmatch(r"xlalint: warning: train\.py:\d+: in unlucky: internal error: .*\n", outcome.err)
    elif what == "unreadable":
        assert re.fullmatch(r"xlalint: warning: broken\.py: syntax error: .* at line 2\n", outcome.err)
    if form == "json" and what != "option":
        document = json.loads(outcome.out)
        assert [one["internal"] for one in document["skipped"]] == {"internal": [True], "unreadable": [False]}.get(
            what, []
        )
        assert bool(document["findings"]) == (rest == "findings")
    elif what in ("internal", "unreadable"):
        assert "All clear" not in outcome.out


def test_the_table_of_the_page_is_the_one_that_is_tested() -> None:
    page = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:-1] for line in page.partition("## Exit codes")[2].splitlines() if line.startswith("| ")]
    told = [[re.findall(r"\*\*(\d)\*\*", cell) for cell in row[1:]] for row in rows[2:]]
    assert told == [
        [["1"], ["0"], []],
        [["1"], ["2"], ["2"]],
        [["1"], ["0", "2"], ["2"]],
        [["2"], ["2"], ["2"]],
    ]


@pytest.fixture
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def code(*found: Diagnostic, skipped: int = 0, files: int = 1, missing: tuple[str, ...] = (), **output: bool) -> int:
    report = Report(
        diagnostics=found,
        skipped=tuple(Skipped(f"{n}.py", "is a broken symbolic link") for n in range(skipped)),
        files=files,
        seconds=0.1,
        named_missing=missing,
    )
    return exit_code(report, Configurations(), OUTPUT._replace(**output))


def at(level: Severity) -> Diagnostic:
    return msgspec.structs.replace(FOUND, severity=level)


@pytest.mark.usefixtures("in_folder")
def test_notes_do_not_fail_unless_the_configuration_says_so() -> None:
    assert code(at(Severity.NOTE)) == 0
    assert code(at(Severity.NOTE), at(Severity.ERROR)) == 1
    Path("xlalint.toml").write_text('fail-on = "note"\n')
    assert code(at(Severity.NOTE)) == 1
    Path("xlalint.toml").write_text('fail-on = "error"\n')
    assert code(FOUND) == 0


@pytest.mark.usefixtures("in_folder")
def test_the_level_is_that_of_the_configuration_of_the_file() -> None:
    Path("strict").mkdir()
    Path("strict/xlalint.toml").write_text('fail-on = "note"\n')
    note = at(Severity.NOTE)
    assert code(note) == 0
    assert code(msgspec.structs.replace(note, path="strict/x.py")) == 1


@pytest.mark.usefixtures("in_folder")
def test_what_is_suppressed_does_not_fail() -> None:
    silenced = msgspec.structs.replace(FOUND, suppressed="# noqa: XLA101")
    assert code(silenced) == 0
    assert code(silenced, ignore_suppressions=True) == 1


@pytest.mark.usefixtures("in_folder")
def test_what_is_not_there_weighs_more_than_what_is_found() -> None:
    assert code(FOUND, missing=("nope.py",)) == 2
    assert code(FOUND, missing=("nope.py",), exit_zero=True) == 2
