"""`--diff-against`: findings on lines that changed since a revision of git."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from commands import Xlalint
from test_findings_end_to_end import PROGRAM, READ

OTHER = "        total -= loss.item()\n"


def git(*arguments: str) -> None:
    subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@y", *arguments], check=True, capture_output=True)


@pytest.fixture(autouse=True)
def _repository(xlalint: Xlalint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    Path("sub").mkdir()
    Path("sub/train é.py").write_text(PROGRAM)
    git("init", "-q", "-b", "main")
    git("add", ".")
    git("commit", "-qm", "first")


def places(xlalint: Xlalint, *arguments: str) -> list[str]:
    out = xlalint("--output-format", "concise", "--diff-against", "main", *arguments).out
    return [":".join(line.split(":")[:2]) for line in out.splitlines()]


def test_nothing_has_changed(xlalint: Xlalint) -> None:
    outcome = xlalint("--diff-against", "HEAD", ".")
    assert outcome.code == 0
    assert "1 finding on lines that have not changed" in outcome.out


def test_changes_count_before_they_are_committed_and_after(xlalint: Xlalint) -> None:
    number = PROGRAM[: PROGRAM.index(READ)].count("\n") + 2
    Path("sub/train é.py").write_text(PROGRAM.replace(READ, READ + OTHER))
    changed = [f"sub/train é.py:{number}"]
    assert places(xlalint, ".") == changed
    assert places(xlalint, "sub") == changed
    git("checkout", "-qb", "work")
    git("commit", "-qam", "second")
    assert places(xlalint, ".") == changed
    assert xlalint("--diff-against", "HEAD", ".").code == 0


def test_a_run_from_the_cache_gives_the_same(xlalint: Xlalint) -> None:
    Path("sub/train é.py").write_text(PROGRAM.replace(READ, READ + OTHER))
    arguments = ("--cache-dir", "kept", ".")
    assert len(places(xlalint, *arguments)) == len(places(xlalint, *arguments)) == 1
    git("commit", "-qam", "second")
    assert places(xlalint, *arguments) == []


def test_a_renamed_file_is_the_same(xlalint: Xlalint) -> None:
    git("mv", "sub/train é.py", "main.py")
    assert places(xlalint, ".") == []
    Path("main.py").write_text(PROGRAM.replace(READ, READ + OTHER))
    assert len(places(xlalint, ".")) == 1


def test_an_untracked_file_is_new(xlalint: Xlalint) -> None:
    Path(".gitignore").write_text("made.py\n")
    Path("made.py").write_text(PROGRAM)
    assert places(xlalint, "made.py") == [f"made.py:{PROGRAM[: PROGRAM.index(READ)].count(chr(10)) + 1}"]


def test_since_the_branch_began(xlalint: Xlalint) -> None:
    git("checkout", "-qb", "work")
    git("checkout", "-q", "main")
    Path("sub/train é.py").write_text(PROGRAM.replace(READ, ""))
    git("commit", "-qam", "mended on main")
    git("checkout", "-q", "work")
    assert len(places(xlalint, ".")) == 1
    assert xlalint("--diff-against", "main...", ".").code == 0


def test_from_within_the_repository(xlalint: Xlalint, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("sub/train é.py").write_text(PROGRAM.replace(READ, READ + OTHER))
    monkeypatch.chdir("sub")
    monkeypatch.setenv("GIT_DIR", ".git")  # as in a hook
    assert len(places(xlalint, ".")) == 1


def test_the_text_of_a_line_is_no_header(xlalint: Xlalint) -> None:
    text = PROGRAM.replace("import torch\n", 'import torch\n\nTEXT = """\n++ b/other.py\n@@ -1 +1,99 @@\n"""\n')
    Path("sub/train é.py").write_text(text)
    assert places(xlalint, ".") == []


@pytest.mark.parametrize("revision", ["nope", "--output=x", "HEAD:sub", ""])
def test_an_unknown_revision_is_one_line(xlalint: Xlalint, revision: str) -> None:
    outcome = xlalint(f"--diff-against={revision}", ".")
    assert outcome.code == 2
    assert len(outcome.errors) == 1
    assert f"`{revision}` is no revision of the git repository" in outcome.err


def test_outside_of_a_repository(xlalint: Xlalint, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("elsewhere")
    outcome = xlalint("--diff-against", "HEAD", str(folder))
    assert outcome.code == 2
    assert len(outcome.errors) == 1
    assert "is in no git repository" in outcome.err
