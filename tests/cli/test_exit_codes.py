"""Exit codes, from reports made by hand."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from diagnosed import diagnostic

from xlalint.cli.check import Output, exit_code
from xlalint.findings.configuration import Configurations
from xlalint.findings.model import Diagnostic, Report, Severity, Skipped

FOUND = diagnostic()
OUTPUT = Output("text", None, "auto", False, False, False, False, False, False)


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_nothing_found_is_zero_and_a_finding_is_one() -> None:
    assert code() == 0
    assert code(FOUND) == 1
    assert code(FOUND, exit_zero=True) == 0


def test_notes_do_not_fail_unless_the_configuration_says_so() -> None:
    assert code(at(Severity.NOTE)) == 0
    assert code(at(Severity.NOTE), at(Severity.ERROR)) == 1
    Path("xlalint.toml").write_text('fail-on = "note"\n')
    assert code(at(Severity.NOTE)) == 1
    Path("xlalint.toml").write_text('fail-on = "error"\n')
    assert code(FOUND) == 0


def test_the_level_is_that_of_the_configuration_of_the_file() -> None:
    Path("strict").mkdir()
    Path("strict/xlalint.toml").write_text('fail-on = "note"\n')
    note = at(Severity.NOTE)
    assert code(note) == 0
    assert code(msgspec.structs.replace(note, path="strict/x.py")) == 1


def test_what_is_suppressed_does_not_fail() -> None:
    silenced = msgspec.structs.replace(FOUND, suppressed="# noqa")
    assert code(silenced) == 0
    assert code(silenced, ignore_suppressions=True) == 1


def test_what_could_not_be_done_weighs_more() -> None:
    assert code(FOUND, missing=("nope.py",)) == 2
    assert code(FOUND, skipped=1) == 1
    assert code(skipped=1) == 0
    assert code(skipped=1, files=0) == 2
    assert code(FOUND, skipped=1, strict=True) == 2
    assert code(FOUND, missing=("nope.py",), exit_zero=True) == 2
