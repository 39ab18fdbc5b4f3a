"""The examples: each costly program has its findings where it says so, its mended twin none that matters."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from xlalint.findings.own_examples import digest, is_own_example
from xlalint.knowledge import tables

EXAMPLES = Path(__file__).parent.parent / "examples"
COSTLY = sorted(EXAMPLES.glob("*_costly.py"))
MENDED = sorted(EXAMPLES.glob("*_mended.py"))
MARK = re.compile(r"# costs: ((?:XLA\d{3} ?)+)$")


def named(path: Path) -> set[tuple[int, str]]:
    """The findings that the comments of a program promise, as line and code."""
    lines = path.read_text(encoding="utf-8").splitlines()
    marks = ((number, MARK.search(line)) for number, line in enumerate(lines, start=1))
    return {(number, code) for number, mark in marks if mark for code in mark[1].split()}


def findings(path: Path) -> list[dict[str, object]]:
    """What the installed command says of a program, on its own."""
    command = [
        str(Path(sys.executable).with_name("xlalint")),
        "check",
        "--output-format",
        "json",
        "--isolated",
        str(path),
    ]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=path.parent)
    assert run.returncode in (0, 1), run.stderr
    report = json.loads(run.stdout)
    assert report["skipped"] == []
    return list(report["findings"])


def test_the_table_of_own_examples_is_that_of_their_texts(tmp_path: Path) -> None:
    rows = [f"{digest(path.read_bytes())},{path.name}" for path in sorted(EXAMPLES.glob("*.py"))]
    table = Path(tables.__file__).with_name("own_examples.csv").read_text(encoding="utf-8")
    assert table.splitlines()[2:] == rows
    copy = tmp_path / COSTLY[0].name
    copy.write_bytes(COSTLY[0].read_bytes())
    assert is_own_example(str(COSTLY[0]))
    assert is_own_example(str(copy))
    (tmp_path / "torch").mkdir()
    assert not is_own_example(str(copy)), "a module of the project would be taken for torch"
    copy.write_text(copy.read_text(encoding="utf-8").replace("import torch", "import os, torch"), encoding="utf-8")
    assert not is_own_example(str(copy))


def test_each_program_has_a_twin() -> None:
    stems = [path.stem.removesuffix("_costly") for path in COSTLY]
    assert stems == [path.stem.removesuffix("_mended") for path in MENDED]
    assert len(stems) >= 5


@pytest.mark.parametrize("path", COSTLY, ids=lambda path: path.stem)
def test_a_costly_program_is_flagged_where_it_costs(path: Path) -> None:
    promised = named(path)
    assert promised
    assert promised - {(found["line"], found["code"]) for found in findings(path)} == set()


@pytest.mark.parametrize("path", MENDED, ids=lambda path: path.stem)
def test_a_mended_program_has_no_warning(path: Path) -> None:
    assert [found for found in findings(path) if found["severity"] != "note"] == []
