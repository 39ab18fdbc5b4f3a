"""What the command line answers where nothing has to be analysed: help, settings, errors, exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from commands import Xlalint

from xlalint.findings.configuration import load_configuration


def test_without_arguments_it_shows_help(xlalint: Xlalint) -> None:
    outcome = xlalint()
    assert outcome.code == 0
    for word in ("check", "rule", "explain"):
        assert f"  {word}" in outcome.out


def test_version(xlalint: Xlalint) -> None:
    from importlib.metadata import version

    assert xlalint("--version").out == f"xlalint {version('xlalint')}\n"


def test_paths_alone_mean_check(xlalint: Xlalint) -> None:
    Path("notes.py").write_text("x = 1\n")
    assert xlalint(".") == xlalint("check", ".") == xlalint("check")
    assert xlalint("--quiet", ".").code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("--selct", "XLA1", "."),
        ("--mode", "lasy", "."),
        ("--jobs", "-1", "."),
        ("--output-format", "xml", "."),
        ("--config", "nope.toml", "."),
        ("--config", "a.toml", "--isolated", "."),
        ("--select", "XLA9", "."),
        ("--ignore", "no-such-rule", "."),
        ("rule", "XLA999"),
        ("explain", "x.py"),
        ("explain", "x.py:zero"),
        ("explain", "nope.py:3"),
        ("explain", "x.py:" + "9" * 5000),
        ("rule", ""),
        ("--stdin-filename", "x.py", "."),
        ("validate", "-"),
        ("validate", ""),
        ("validate", "--only", "XLA999", "."),
        ("validate", "--only", ",", "."),
        ("validate", "--timeout", "nan", "."),
        ("validate", "--timeout", "inf", "."),
        ("validate", "--rules", "nope"),
        ("validate", "--keep", "", "."),
        ("calibrate", "--ops", ""),
        ("calibrate", "--rules", ","),
        ("calibrate", "--timeout", "nan"),
        ("calibrate", "--output", ""),
        ("calibrate", "--output", "."),
        ("trace", "--", ""),
        ("trace", "--program-output", "", "--", "true"),
        ("nope.py",),
    ],
)
def test_what_can_not_be_done_is_one_line_and_exit_code_two(xlalint: Xlalint, arguments: tuple[str, ...]) -> None:
    outcome = xlalint(*arguments)
    assert outcome.code == 2
    assert len(outcome.errors) == 1
    assert outcome.errors[0].startswith("xlalint: error: ")


def test_a_missing_path_does_not_keep_the_others_from_being_linted(xlalint: Xlalint) -> None:
    Path("a.py").write_text("x = 1\n")
    Path("d").mkdir()
    outcome = xlalint("nope.py", "d")
    assert outcome.code == 2
    assert outcome.errors == ["xlalint: error: nope.py: no such file or folder"]


def test_a_folder_without_python_is_told_and_is_no_failure(xlalint: Xlalint) -> None:
    Path("empty").mkdir()
    outcome = xlalint("empty")
    assert outcome.code == 0
    assert outcome.errors == ["xlalint: warning: no Python files found in `empty`"]
    assert xlalint("--quiet", "empty") == (0, "", "")


def test_a_configuration_with_an_unknown_key_names_the_nearest(xlalint: Xlalint) -> None:
    Path("pyproject.toml").write_text('[tool.xlalint]\nselct = ["XLA1"]\n')
    outcome = xlalint(".")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.errors == ["xlalint: error: pyproject.toml: unknown key `selct`; did you mean `select`?"]
    assert xlalint("--isolated", ".").code == 0


def test_settings_are_shown_as_a_file_that_can_be_used(xlalint: Xlalint) -> None:
    Path("xlalint.toml").write_text(
        'mode = "all"\nforce-exclude = true\nignore = ["XLA101"]\nextend-exclude = ["gen"]\n'
    )
    shown = xlalint(
        "--show-settings", "--min-certainty", "possible", "--select", "XLA1,XLA2", "--ignore", "XLA103", "."
    )
    assert shown.out.startswith(f"# {Path('xlalint.toml').absolute()}\n")
    Path("again.toml").write_text(shown.out)
    settings = load_configuration("again.toml").settings
    assert (settings.mode, settings.force_exclude, settings.min_certainty) == ("all", True, "possible")
    assert settings.select == ("XLA1", "XLA2")
    assert settings.ignore == ("XLA101", "XLA103")
    assert settings.extend_exclude == ("gen",)


def test_files_are_shown_after_excludes(xlalint: Xlalint) -> None:
    for name in ("a.py", "gen/b.py", "old/c.py", "deep/gen/d.py"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("")
    Path("xlalint.toml").write_text('extend-exclude = ["old"]\n')
    assert xlalint("--show-files").out == "a.py\ndeep/gen/d.py\ngen/b.py\n"
    assert xlalint("--show-files", "--extend-exclude", "/gen").out == "a.py\ndeep/gen/d.py\n"
    assert xlalint("--show-files", "--exclude", "gen").out == "a.py\nold/c.py\n"
    assert xlalint("--show-files", "old/c.py").out == "old/c.py\n"
    assert xlalint("--show-files", "--force-exclude", "old/c.py").out == ""


def test_patterns_of_the_command_line_start_from_the_working_directory(
    xlalint: Xlalint, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("sub/gen/b.py", "sub/a.py", "gen/c.py"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("")
    Path("xlalint.toml").write_text("")
    monkeypatch.chdir("sub")
    assert xlalint("--show-files", "--extend-exclude", "/gen", "..").out == "../gen/c.py\na.py\n"


def test_the_list_of_rules_and_a_page(xlalint: Xlalint) -> None:
    from xlalint.findings.registry import load_rules

    rows = xlalint("rule").out.splitlines()
    assert [row.split()[0] for row in rows] == sorted(["XLA001", *(one.rule.code for one in load_rules())])
    assert xlalint("rule", "unused-suppression").out == xlalint("rule", "xla001").out
    assert "# `unused-suppression` (XLA001)" in xlalint("rule", "XLA001").out
    assert xlalint("rule", "XLA301").out.startswith("# `nonzero` (XLA301)")


def test_json_of_nothing_is_whole(xlalint: Xlalint) -> None:
    Path("a.py").write_text("x = 1\n")
    report = json.loads(xlalint("--output-format", "json", ".").out)
    assert (report["findings"], report["skipped"], report["summary"]["files"]) == ([], [], 1)


def test_the_report_can_go_to_a_file(xlalint: Xlalint) -> None:
    Path("a.py").write_text("x = 1\n")
    outcome = xlalint("--output-format", "json", "--output", "report.json", ".")
    assert (outcome.code, outcome.out) == (0, "")
    assert json.loads(Path("report.json").read_text())["findings"] == []
    refused = xlalint("--output", "no/such/folder.txt", ".")
    assert refused.code == 2
    assert refused.errors == ["xlalint: error: no/such/folder.txt: No such file or directory"]


def test_a_report_is_not_written_over_source(xlalint: Xlalint) -> None:
    Path("train.py").write_text("x = 1\n")
    for command in ("check", "validate"):
        assert xlalint(command, "-o", "train.py").code == 2
    assert Path("train.py").read_text() == "x = 1\n"


def test_a_profile_takes_the_place_of_no_pipe_and_no_device(xlalint: Xlalint) -> None:
    os.mkfifo("pipe")
    os.symlink("pipe", "link")
    for name in ("pipe", "link"):
        outcome = xlalint("calibrate", "--rules", "XLA401", "--output", name)
        assert (outcome.code, outcome.errors) == (2, [f"xlalint: error: {name}: can't be written"])


def test_color_follows_the_option_then_the_environment(xlalint: Xlalint, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.py").write_text("x = 1\n")
    assert "\x1b[" not in xlalint(".").out
    assert "\x1b[" in xlalint("--color", "always", ".").out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in xlalint(".").out
    assert "\x1b[" not in xlalint("--color", "never", ".").out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in xlalint(".").out


def test_an_unreadable_file_is_skipped_and_fails_only_if_nothing_else_was_linted_or_strict(xlalint: Xlalint) -> None:
    Path("bad.py").write_bytes(b"import torch\n\0")
    assert xlalint("bad.py").code == 2
    Path("good.py").write_text("x = 1\n")
    outcome = xlalint(".")
    assert outcome.code == 0
    assert outcome.errors == ["xlalint: warning: bad.py: contains null bytes (first in line 2)"]
    assert xlalint("--strict", ".").code == 2
    assert xlalint("--strict", "--exit-zero", ".").code == 2


def test_standard_input_that_is_no_text_is_told_under_its_name(xlalint: Xlalint) -> None:
    outcome = xlalint("-", "--stdin-filename", "pkg/x.py", stdin=b"\xff\xfei\0")
    assert outcome.code == 2
    assert outcome.errors[0].startswith("xlalint: warning: pkg/x.py: is encoded in UTF-16")


def test_standard_input_of_an_excluded_file_is_left_alone(xlalint: Xlalint) -> None:
    outcome = xlalint("-", "--stdin-filename", "build/x.py", "--force-exclude", stdin=b"\0")
    assert (outcome.code, outcome.errors) == (0, [])


def test_verbose_tells_on_standard_error(xlalint: Xlalint) -> None:
    Path("a.py").write_text("x = 1\n")
    assert xlalint("--verbose", ".").errors[-1].startswith("xlalint: note: 1 file checked")


def test_a_name_with_a_line_break_in_it_stays_on_one_line(xlalint: Xlalint) -> None:
    Path("a\nb\x1b[31m.py").write_bytes(b"import torch\0")
    outcome = xlalint(".")
    assert len(outcome.errors) == 1
    assert "\x1b" not in outcome.err


def run(*arguments: str, **how: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, timeout=60, **how)  # type: ignore[call-overload]


def test_importing_the_command_line_imports_little() -> None:
    code = "import sys, xlalint.cli; print(' '.join(sys.modules))"
    modules = set(run("-c", code).stdout.decode().split())
    heavy = {"torch", "libcst", "sarif_om", "msgspec", "pathspec", "tomllib", "multiprocessing", "xlalint.linting"}
    assert not modules & heavy


def test_a_closed_pipe_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "xlalint", str(tmp_path)], stdout=writer, stderr=subprocess.PIPE, timeout=60
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, b"")


def test_closed_output_loses_the_text_but_not_the_exit_code(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import torch\nbreakpoint()\n")
    command = [sys.executable, "-m", "xlalint", "--assume-xla", "--fail-on", "note", "--output-format", "json"]
    command += ["--output", str(tmp_path / "found.json"), str(tmp_path)]
    done = subprocess.run(["sh", "-c", 'exec "$@" >&- 2>&-', "sh", *command], cwd=tmp_path, timeout=60)
    assert done.returncode == 1
    assert "XLA501" in (tmp_path / "found.json").read_text()


def test_a_terminal_that_is_not_utf8_shows_what_it_can(tmp_path: Path) -> None:
    (tmp_path / "größe.py").write_bytes(b"import torch\0")
    done = run("-m", "xlalint", str(tmp_path), env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert b"Traceback" not in done.stderr
    assert b"null bytes" in done.stderr
