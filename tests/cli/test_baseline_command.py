"""Accepted findings: `xlalint baseline` writes them down, and `xlalint` reports what is new."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import Xlalint
from test_findings_end_to_end import PROGRAM, READ

BASELINE = Path("xlalint-baseline.txt")


@pytest.fixture(autouse=True)
def _program(xlalint: Xlalint) -> None:
    Path("train.py").write_text(PROGRAM)
    assert xlalint("baseline", "-q").code == 0


def entries() -> list[str]:
    return [line for line in BASELINE.read_text().splitlines() if not line.startswith("#")]


def test_what_is_accepted_is_not_reported(xlalint: Xlalint) -> None:
    outcome = xlalint(".")
    assert outcome.code == 0
    assert "Found nothing new: 1 file checked, 1 finding accepted by the baseline." in outcome.out
    assert xlalint("--no-baseline", ".").code == xlalint("--isolated", ".").code == 1
    assert json.loads(xlalint("--output-format", "json", ".").out)["summary"]["accepted"] == 1


def test_a_run_from_the_cache_hides_the_same(xlalint: Xlalint) -> None:
    shown = xlalint("--no-baseline", "--cache-dir", "kept", ".")
    hidden = xlalint("--cache-dir", "kept", ".")
    assert (shown.code, hidden.code) == (1, 0)
    BASELINE.unlink()
    assert xlalint("--cache-dir", "kept", ".").out == shown.out


@pytest.mark.parametrize(
    "edited",
    [
        "# a licence\n\n" + PROGRAM,
        PROGRAM.replace("loss.item()", "(\n            loss.item()\n        )  # why"),
        PROGRAM.replace("total = 0.0", "total = 0.0\n    print('begin')"),
    ],
)
def test_it_survives_moved_lines_and_reformatting(xlalint: Xlalint, edited: str) -> None:
    Path("train.py").write_text(edited)
    outcome = xlalint(".")
    assert (outcome.code, outcome.err) == (0, "")


def test_it_survives_a_renamed_file(xlalint: Xlalint) -> None:
    Path("src").mkdir()
    Path("train.py").rename("src/main.py")
    assert xlalint(".") == xlalint("src/main.py") == xlalint("src")
    assert (xlalint(".").code, xlalint(".").err) == (0, "")


def test_a_copy_is_new(xlalint: Xlalint) -> None:
    Path("other.py").write_text(PROGRAM)
    outcome = xlalint("--output-format", "concise", ".")
    assert outcome.code == 1
    assert outcome.out.startswith("other.py:")


def test_what_is_new_is_reported(xlalint: Xlalint) -> None:
    Path("train.py").write_text(PROGRAM.replace(READ, READ + "        total -= loss.item()\n"))
    outcome = xlalint("--output-format", "concise", ".")
    assert outcome.code == 1
    assert len(outcome.out.splitlines()) == 1


def test_what_is_no_longer_found_is_told(xlalint: Xlalint) -> None:
    Path("train.py").write_text(PROGRAM.replace(READ, ""))
    Path("clean.py").write_text("x = 1\n")
    name = entries()[0].split()[2]
    told = xlalint(".").errors
    assert told == [
        f"xlalint: warning: xlalint-baseline.txt: no longer found: XLA101 in train.py ({name})",
        "xlalint: warning: xlalint-baseline.txt: `xlalint baseline` takes out what is no longer found",
    ]
    assert not xlalint("clean.py").err  # as pre-commit names files: nothing was asked of the other
    assert not xlalint("--select", "XLA2", ".").err
    xlalint("baseline")
    assert entries() == []


def test_other_paths_stay_in_it(xlalint: Xlalint) -> None:
    Path("two words é.py").write_text(PROGRAM)
    before = entries()
    assert xlalint("baseline", "two words é.py").out == "xlalint-baseline.txt: 2 findings in 2 files accepted.\n"
    assert before[0] in entries()
    assert len(entries()) == 2
    assert entries() == sorted(entries())
    assert xlalint(".").code == 0


def test_the_sides_of_a_conflict_may_both_stay(xlalint: Xlalint) -> None:
    lines = entries()
    other = "z.py XLA101 0123456789abcdef"
    BASELINE.write_text("\n".join(["<<<<<<< HEAD", *lines, "=======", other, ">>>>>>> other", ""]))
    outcome = xlalint(".")
    assert outcome.code == 2
    assert outcome.errors == [
        "xlalint: error: xlalint-baseline.txt:1: a merge conflict: keep the lines of both sides, and drop its marks"
    ]
    BASELINE.write_text("\n".join([other, *lines, *lines, ""]))
    assert xlalint("train.py").code == 0
    BASELINE.write_text("\n".join(["<<<<<<< HEAD", "=======", *lines, ">>>>>>> other", ""]))
    assert xlalint("baseline").code == 0
    assert entries() == lines


def test_the_configuration_may_name_it(xlalint: Xlalint) -> None:
    BASELINE.rename("accepted.txt")
    assert xlalint(".").code == 1
    assert xlalint("--baseline", "accepted.txt", ".").code == 0
    Path("xlalint.toml").write_text('baseline = "ci/accepted.txt"\n')
    outcome = xlalint("train.py")
    assert outcome.code == 2
    assert outcome.errors == ["xlalint: error: ci/accepted.txt: no such baseline; `xlalint baseline` writes it"]
    Path("ci").mkdir()
    assert xlalint("baseline", "-q").code == 0
    assert Path("ci/accepted.txt").read_text().splitlines()[-1].startswith("../train.py XLA101 ")
    assert xlalint("train.py").code == 0


def test_the_setting_of_another_folder_is_found(xlalint: Xlalint, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("pyproject.toml").write_text("[tool.xlalint]\n")
    Path("sub").mkdir()
    monkeypatch.chdir("sub")
    assert xlalint("../train.py").code == 0


def test_what_is_no_baseline_is_refused(xlalint: Xlalint) -> None:
    BASELINE.write_text("nonsense\n")
    outcome = xlalint(".")
    assert outcome.code == 2
    assert "xlalint-baseline.txt:1: expected `path code fingerprint`, got `nonsense`" in outcome.err
    assert xlalint("--baseline", "x", "--no-baseline", ".").code == 2
    assert xlalint("--baseline", "nope.txt", ".").code == 2
