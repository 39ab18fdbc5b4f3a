"""Streams that take or give nothing, and a working directory that is gone: one clear line, and the right exit code."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from outcome import Outcome

FULL = Path("/dev/full")
ON_FULL = pytest.mark.skipif(
    not (FULL.exists() and stat.S_ISCHR(FULL.stat().st_mode)), reason="this system has no full device"
)
PROGRAM = "import torch\nbreakpoint()\n"
OUTPUTS = [
    ("a.py",),
    ("--output-format", "concise", "a.py"),
    ("--output-format", "json", "a.py"),
    ("--output-format", "sarif", "a.py"),
    ("--output-format", "github", "a.py"),
    ("--statistics", "a.py"),
    ("--show-settings", "."),
    ("--show-files", "."),
    ("rule",),
    ("rule", "XLA101"),
    ("explain", "a.py:2"),
    ("--version",),
    (),
]
Redirected = Callable[..., Outcome]


@pytest.fixture
def redirected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Redirected:
    """The command as a shell runs it: ``redirected(">&-", "rule")``. Its own output is only what is not redirected."""
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text(PROGRAM)
    Path("clean.py").write_text("import torch\n")

    def run(how: str, *arguments: str) -> Outcome:
        command = ["sh", "-c", f'"$@" {how}', "sh", sys.executable, "-m", "xlalint", *arguments]
        done = subprocess.run(command, capture_output=True, timeout=120, stdin=subprocess.DEVNULL)
        outcome = Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())
        assert "Traceback" not in outcome.err
        assert "internal error" not in outcome.err
        assert "Exception ignored" not in outcome.err
        return outcome

    return run


@ON_FULL
@pytest.mark.parametrize("arguments", OUTPUTS, ids=" ".join)
def test_a_full_disk_behind_standard_output_is_told(redirected: Redirected, arguments: tuple[str, ...]) -> None:
    outcome = redirected("> /dev/full", *arguments)
    assert outcome.code == 2
    assert outcome.only_complaint() == "xlalint: error: standard output: No space left on device"


@ON_FULL
@pytest.mark.parametrize("arguments", [("--help",), ("check", "--help")], ids=" ".join)
def test_help_for_a_full_disk_is_told(redirected: Redirected, arguments: tuple[str, ...]) -> None:
    outcome = redirected("> /dev/full", *arguments)
    assert (outcome.code, outcome.only_complaint()) == (2, "xlalint: error: No space left on device")


@ON_FULL
def test_standard_error_that_takes_nothing_leaves_the_exit_code(redirected: Redirected) -> None:
    for how in ("2> /dev/full", "2>&-"):
        assert redirected(how, "--verbose", "a.py").code == 1
        assert redirected(how, "--verbose", "clean.py").code == 0
        assert redirected(how, "nope.py").code == 2
    assert redirected("> /dev/full 2> /dev/full", "clean.py").code == 2


@pytest.mark.parametrize("form", ["text", "json", "sarif"])
def test_a_report_that_does_not_fit_is_told(redirected: Redirected, form: str) -> None:
    # The limit is on the size of files: the pipes of this test are none.
    limited = ["sh", "-c", 'ulimit -f 0 && exec "$@"', "sh", sys.executable, "-m", "xlalint", "a.py"]
    done = subprocess.run(
        [*limited, "--output-format", form, "--output", "report", "--no-cache"], capture_output=True, timeout=120
    )
    assert done.returncode == 2
    assert done.stderr == b"xlalint: error: report: File too large\n"


def test_closed_streams_are_no_trouble_where_nothing_is_asked_of_them(redirected: Redirected) -> None:
    assert redirected(">&-", "rule") == (0, "", "")
    assert redirected(">&-", "a.py") == (1, "", "")
    assert redirected("<&- >&- 2>&-", "a.py") == (1, "", "")
    assert redirected("<&-", "clean.py").code == 0


def test_standard_input_that_gives_nothing_is_told(redirected: Redirected) -> None:
    closed = redirected("<&-", "-")
    assert (closed.code, closed.only_complaint()) == (2, "xlalint: error: standard input is closed")
    for_writing = redirected("0> written", "-")
    assert for_writing.code == 2
    assert for_writing.only_complaint() == "xlalint: error: standard input: Bad file descriptor"


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="this system has no endless device")
def test_standard_input_without_an_end_is_told(redirected: Redirected) -> None:
    outcome = redirected("< /dev/zero", "-")
    assert outcome.code == 2
    assert outcome.only_complaint() == "xlalint: error: standard input is larger than 5 MB (`max-file-size`)"


@pytest.mark.skipif(sys.platform == "win32", reason="a working directory can't be removed there")
@pytest.mark.parametrize(
    "arguments",
    [
        (".",),
        ("/",),
        ("-",),
        ("rule",),
        ("explain", "a.py:1"),
        ("--show-settings",),
        ("validate", "."),
        ("trace", "--", "true"),
    ],
    ids=" ".join,
)
def test_a_working_directory_that_is_gone_is_told(redirected: Redirected, arguments: tuple[str, ...]) -> None:
    command = ["sh", "-c", 'mkdir gone && cd gone && rmdir ../gone && exec "$@"', "sh", sys.executable, "-c"]
    called = "from xlalint.cli import run; run()"
    done = subprocess.run([*command, called, *arguments], capture_output=True, timeout=120, stdin=subprocess.DEVNULL)
    assert done.returncode == 2
    assert done.stderr == b"xlalint: error: the working directory: No such file or directory\n"
