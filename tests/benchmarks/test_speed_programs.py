"""What `benchmarks/speed.py` times is linted as it says: whole, with a finding or without."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import speed

from xlalint.cli import main


@pytest.mark.parametrize(("head", "code"), [(speed.HEAD, 0), (speed.HEAD + speed.COSTLY, 1)])
def test_the_timed_file_parses_and_has_the_findings_that_its_row_names(
    head: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = speed.program(head)
    ast.parse(text)
    assert speed.LINES - 5 <= len(text.splitlines()) <= speed.LINES
    Path("program.py").write_text(text)
    assert main(["--no-cache", "--strict", "--jobs", "1", "program.py"]) == code
