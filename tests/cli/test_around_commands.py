"""Commands about the command line itself: help, completion, misspelt names, a first configuration."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commands import Xlalint

from xlalint.findings.configuration import load_configuration


def test_help_shows_the_commands_or_one_of_them(xlalint: Xlalint) -> None:
    assert xlalint("help").out == xlalint("--help").out
    assert xlalint("help", "check").out == xlalint("check", "--help").out
    outcome = xlalint("help", "chek")
    assert (outcome.code, outcome.err) == (2, "xlalint: error: no command `chek`; did you mean `check`?\n")


def test_a_misspelt_command_is_told_before_anything_is_linted(xlalint: Xlalint) -> None:
    Path("src").mkdir()
    outcome = xlalint("validat", "src")
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err == "xlalint: error: no command and no path `validat`; did you mean `validate`?\n"
    Path("chck").mkdir()
    Path("chck/a.py").write_text("x = 1\n")
    assert xlalint("chck").code == 0
    assert xlalint("nope.py").err == "xlalint: error: nope.py: no such file or folder\n"


def test_rules_by_prefix_and_family(xlalint: Xlalint) -> None:
    listed = xlalint("rule").out.splitlines()
    some = xlalint("rule", "xla40").out.splitlines()
    assert [line.split()[:2] for line in some] == [line.split()[:2] for line in listed if line.startswith("XLA40")]
    assert all("host-transfer" in line for line in xlalint("rule", "host-transfer").out.splitlines())
    assert xlalint("rule", "XLA101").out.startswith("# `scalar-read-in-step` (XLA101)\n")


def test_rules_as_json(xlalint: Xlalint) -> None:
    everything = json.loads(xlalint("rule", "--output-format", "json").out)
    assert [one["code"] for one in everything] == [line.split()[0] for line in xlalint("rule").out.splitlines()]
    (one,) = json.loads(xlalint("rule", "XLA101", "--output-format", "json").out)
    assert (one["name"], one["family"], one["severity"]) == ("scalar-read-in-step", "host-transfer", "warning")
    assert one["page"] == xlalint("rule", "XLA101").out
    assert one["summary"] in " ".join(one["page"].split())


def completed(shell: str, words: str, *more: str) -> list[str]:
    """What the command answers a completion script, for the last of ``words``."""
    given = words.split(" ")
    variables = {"COMP_WORDS": words, "COMP_CWORD": str(len(given) - 1)}
    if shell == "fish":
        variables = {"COMP_WORDS": " ".join(given[:-1]), "COMP_CWORD": given[-1]}
    environment = {**os.environ, **variables, "_XLALINT_COMPLETE": f"{shell}_complete"}
    command = [sys.executable, "-c", "from xlalint.cli import run; run()", *more]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_commands_options_and_paths_are_completed() -> None:
    assert completed("bash", "xlalint cal") == ["plain,calibrate"]
    assert completed("bash", "xlalint src/tr") == ["file,src/tr"]
    assert completed("bash", "xlalint check src/tr") == ["file,src/tr"]
    assert completed("bash", "xlalint src --output-format rd") == ["plain,rdjson"]
    assert "plain,--statistics" in completed("bash", "xlalint --stat")
    assert completed("zsh", "xlalint cal")[:2] == ["plain", "calibrate"]
    assert completed("fish", "xlalint cal")[0].startswith("plain")


@pytest.mark.parametrize(("shell", "check"), [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")])
def test_the_completion_script_is_one(xlalint: Xlalint, shell: str, check: str) -> None:
    outcome = xlalint("completion", shell)
    assert outcome.code == 0
    assert f"_XLALINT_COMPLETE={shell}_complete" in outcome.out
    if shutil.which(shell):
        Path("script").write_text(outcome.out)
        subprocess.run([shell, check, "script"], check=True)


def test_a_configuration_to_begin_with(xlalint: Xlalint) -> None:
    Path("third_party/lib").mkdir(parents=True)
    Path("third_party/lib/a.py").write_text("x = 1\n")
    Path("train.py").write_text("import torch_xla\n")
    Path("requirements.txt").write_text("torch==2.8\ntorch_xla[tpu]>=2.8.0\n")
    assert xlalint("init").out == "xlalint.toml: written; docs/configuration.md has all keys.\n"
    settings = load_configuration("xlalint.toml").settings
    assert (settings.extend_exclude, settings.torch_xla_version) == (("/third_party",), "2.8")
    assert xlalint("--show-files").out == "train.py\n"
    again = xlalint("init")
    assert again.code == 2
    assert "xlalint.toml is there already" in again.err


def test_it_goes_to_the_end_of_pyproject(xlalint: Xlalint) -> None:
    Path("pyproject.toml").write_bytes(b'[project]\r\nname = "x"')
    shown = xlalint("init", "--show").out
    assert Path("pyproject.toml").read_bytes() == b'[project]\r\nname = "x"'
    assert xlalint("init").code == 0
    text = Path("pyproject.toml").read_bytes()
    assert text == b'[project]\r\nname = "x"\r\n\r\n[tool.xlalint]\r\n' + shown.replace("\n", "\r\n").encode()
    assert xlalint("--show-settings").out.startswith("# ")


def test_each_comment_of_it_holds_a_key_that_may_be_used(xlalint: Xlalint) -> None:
    shown = xlalint("init", "--show").out
    keys = "".join(f"{line.removeprefix('# ')}\n" for line in shown.splitlines() if " = " in line)
    Path("xlalint.toml").write_text(keys)
    assert xlalint("--show-settings").code == 0
