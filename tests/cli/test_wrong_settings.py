"""What is wrong in a setting is told in one line that names the file, or the command line, and the key."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from commands import Xlalint

WRONG = {
    'select = ["XLA9"]': ": key `select`: no rule `XLA9`; did you mean",
    'ignore = ["nope"]': ": key `ignore`: no rule `nope`",
    'extend-select = [""]': ": key `extend-select`: no rule ``",
    'severity = { nope = "note" }': ": key `severity`: no rule `nope`",
    'per-file-ignores = { "*" = ["nope"] }': ": key `per-file-ignores`: no rule `nope`",
    'per-file-ignores = { "**[" = ["ALL"] }': ": key `per-file-ignores`: `**[` is no pattern",
    'exclude = ["**["]': ": key `exclude`: `**[` is no pattern, and would match nothing",
    'extend-exclude = ["gen", "[z-a]"]': ": key `extend-exclude`: `[z-a]` is no pattern",
    'extend-exclude = [""]': ": key `extend-exclude`: `` is no pattern",
    'plugins = ["nope"]': ": key `plugins`: no plugin `nope` is installed",
    'profile = "nope.json"': ": profile {folder}/nope.json: no such file or directory",
    'profile = "."': ": profile {folder}: is a directory",
    'profile = ""': ": key `profile`: the path is empty",
    'python = ""': ": key `python`: the path is empty",
    'python = "a\\u0000b"': ": key `python`: no path holds a null character",
    'torch-xla-version = "banana"': ": key `torch-xla-version`: expected a version such as 2.9, got `banana`",
    'torch-xla-version = ">=2.9"': ": key `torch-xla-version`: expected a version such as 2.9, got `>=2.9`",
    "torch-xla-version = 2.9": ": key `torch-xla-version`: expected a string, got a float",
    '[hints]\nloaders = [""]': ", [hints]: key `loaders`: expected names such as `pkg.data.Batches`, got ``",
    '[hints]\nstep-functions = ["a b"]': ", [hints]: key `step-functions`: expected names such as",
    "[hints]\nloader = []": ", [hints]: unknown key `loader`; did you mean `loaders`?",
    "jobs = 99999999999999999999": ": key `jobs`: expected 0 to 1024, got 99999999999999999999",
    "assume-xla = 1": ': key `assume-xla`: expected a boolean or "auto", got an integer',
    "mode = 3": ": key `mode`: expected a string, got an integer",
    "select = [": ": Invalid value",
}


@pytest.fixture(autouse=True)
def _part(tmp_path: Path) -> None:
    part = tmp_path / "mono" / "b"
    (part / "empty").mkdir(parents=True)
    (part / "x.py").write_text("import torch\n")
    (part / "notes").write_text("nothing to run\n")
    (tmp_path / "elsewhere").mkdir()


def complaint(xlalint: Xlalint, *arguments: str) -> str:
    outcome = xlalint(*arguments)
    (line,) = outcome.errors
    assert (outcome.code, outcome.out) == (2, "")
    return line


@pytest.mark.parametrize(("text", "told"), WRONG.items(), ids=WRONG)
def test_a_nested_configuration_is_named_with_its_folder(
    xlalint: Xlalint, monkeypatch: pytest.MonkeyPatch, text: str, told: str
) -> None:
    Path("mono/b/xlalint.toml").write_text(text)
    found = complaint(xlalint, ".")
    assert found.startswith(f"xlalint: error: mono/b/xlalint.toml{told.format(folder='mono/b')}")
    monkeypatch.chdir("elsewhere")
    named = complaint(xlalint, "../mono/b/x.py")
    assert named.startswith(f"xlalint: error: ../mono/b/xlalint.toml{told.format(folder='../mono/b')}")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--python", "nope"), "the command line: key `python`: nope: no such file or folder"),
        (("--python", "elsewhere"), "the command line: key `python`: elsewhere: is neither an environment nor its"),
        (("--python", "mono/b/x.py"), "the command line: key `python`: mono/b/x.py: is neither an environment nor its"),
        (("--exclude", "**["), "the command line: key `exclude`: `**[` is no pattern, and would match nothing"),
        (("--extend-exclude", "gen,!"), "the command line: key `extend-exclude`: `!` is no pattern"),
        (("--jobs", "99999999999999999999"), "the command line: key `jobs`: expected 0 to 1024, got 9"),
        (("--profile", "mono"), "profile mono: is a directory"),
        (("--config", "mono"), "mono: is not a regular file"),
        (("--config", "nope.toml"), "nope.toml: no such configuration file"),
        (("--config", "binary.toml"), "binary.toml: is not valid UTF-8"),
    ],
)
def test_what_the_command_line_names_is_looked_at(xlalint: Xlalint, arguments: tuple[str, ...], told: str) -> None:
    Path("binary.toml").write_bytes(b"\xff\x00")
    assert complaint(xlalint, *arguments, ".").startswith(f"xlalint: error: {told}")


@pytest.mark.parametrize("option", ["--select", "--python", "--profile", "--config", "--output"])
def test_an_option_that_is_empty_is_told(xlalint: Xlalint, option: str) -> None:
    assert complaint(xlalint, option, "", ".").startswith(f"xlalint: error: Invalid value for '{option}'")


def test_an_empty_list_that_leaves_nothing_undone_is_taken(xlalint: Xlalint) -> None:
    for option in ("--ignore", "--extend-select", "--exclude", "--extend-exclude"):
        assert xlalint(option, "", ".").code == 0


def test_a_fifo_in_place_of_a_profile_does_not_block(xlalint: Xlalint) -> None:
    os.mkfifo("profile.json")
    assert complaint(xlalint, "--profile", "profile.json", ".").endswith("profile profile.json: is not a regular file")


@pytest.mark.parametrize("name", ["empty", "notes", "nope"])
@pytest.mark.parametrize(
    "arguments",
    [(".",), ("x.py",), ("../b",), ("explain", "x.py:1"), ("trace", "--", "touch", "ran"), ("-",)],
    ids=" ".join,
)
def test_packages_that_are_not_there_are_told(
    xlalint: Xlalint, monkeypatch: pytest.MonkeyPatch, name: str, arguments: tuple[str, ...]
) -> None:
    Path("mono/b/xlalint.toml").write_text(f'python = "{name}"\n')
    monkeypatch.chdir("mono/b")
    what = "is neither an environment nor its interpreter nor a folder with packages"
    if name == "nope":
        what = "no such file or folder"
    assert complaint(xlalint, *arguments) == f"xlalint: error: xlalint.toml: key `python`: {name}: {what}"
    assert not Path("ran").exists()


def test_an_environment_that_nobody_asks_for_need_not_be_there(
    xlalint: Xlalint, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("mono/xlalint.toml").write_text('python = "nope"\n')
    Path("elsewhere/y.py").write_text("import torch\n")
    assert xlalint("--no-follow", "mono").code == 0
    assert xlalint("--no-follow", "--python", "nope", "elsewhere").code == 0
    assert xlalint("elsewhere").code == 0
    monkeypatch.chdir("mono")
    assert xlalint("../elsewhere").code == 0
    assert xlalint(".").code == 2


@pytest.mark.parametrize(
    "version", ["2", "2.9.1", "v2.9", "2.9.0rc1", "2.9.0a0+git1a2b3c", "2.10.dev20250101", "2.9+cpu"]
)
def test_versions_as_packages_have_them_are_taken(xlalint: Xlalint, version: str) -> None:
    Path("xlalint.toml").write_text(f'torch-xla-version = "{version}"\n')
    assert xlalint(".").code == 0


def test_a_size_may_be_any_number(xlalint: Xlalint) -> None:
    for number in ("99999999", "99999999999999999999"):
        Path("xlalint.toml").write_text(f"max-file-size = {number}\n")
        assert xlalint(".") == (0, "All clear: 1 file checked.\n", "")
        assert xlalint("-", stdin=b"import torch\n").code == 0


def test_posix_classes_and_wrong_lines_of_a_gitignore_are_passed_over(xlalint: Xlalint) -> None:
    Path(".git").mkdir()
    Path(".gitignore").write_text("[[:digit:]].txt\n[z-a]\nmono/b/x.py\n")
    Path("y.py").write_text("")
    assert xlalint("--show-files", ".") == (0, "y.py\n", "")


def test_a_program_is_not_run_for_a_trace_that_the_configuration_would_spoil(xlalint: Xlalint) -> None:
    for text in ('python = "nope"\n', 'select = ["nope"]\n'):
        Path("xlalint.toml").write_text(text)
        assert complaint(xlalint, "trace", "--", "touch", "ran").startswith("xlalint: error: xlalint.toml: key ")
        assert not Path("ran").exists()


@pytest.mark.parametrize("given", ["x", "=1", "x=1 +"])
def test_what_is_assumed_is_a_name_with_an_expression(xlalint: Xlalint, given: str) -> None:
    outcome = xlalint("validate", "--assume", given, ".")
    assert outcome.code == 2
    assert "--assume" in outcome.err


@pytest.mark.parametrize(
    ("program", "told"),
    {
        (): "give a program after `--`",
        ("torchrun", "x.py"): "`torchrun` is no Python",
        ("python",): "`python` names no file and no module",
        ("python", "nope.py"): "nope.py: no such file",
        ("python", "-m", "nope.train"): "no module `nope.train` lies in",
        ("python", "-c", "pass"): "names no file and no module",
    }.items(),
    ids=str,
)
def test_what_is_no_program_is_not_run(xlalint: Xlalint, program: tuple[str, ...], told: str) -> None:
    assert told in complaint_with_usage(xlalint, "validate", "--run", "--", *program)


def test_a_program_runs_in_lazy_mode_only(xlalint: Xlalint) -> None:
    told = complaint_with_usage(xlalint, "validate", "--run", "--mode", "eager", "--", "python", "mono/b/x.py")
    assert "--run does not go with --mode eager" in told


def complaint_with_usage(xlalint: Xlalint, *arguments: str) -> str:
    outcome = xlalint(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    return outcome.errors[-1]
