"""``xlalint new-rule`` writes a rule that works: the pages' own tests accept it but for the figures of the device."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commands import Xlalint

ROOT = Path(__file__).resolve().parents[2]
CHANGE_LOG = "# Changes\n\n## [Unreleased]\n\n### Added\n\n- One thing.\n\n### Fixed\n\n- Another.\n\n## [0.1.0]\n"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The working directory: what ``new-rule`` looks for in a checkout, with one rule that is there already."""
    for name in ("rules/__init__.py", "tools/measure_pages.py", "rules/xla304_unique.py", "rules/xla304_unique.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "CHANGELOG.md").write_text(CHANGE_LOG, encoding="utf-8")
    return tmp_path


@pytest.fixture
def whole_checkout(tmp_path: Path) -> Path:
    """A copy of what lints, of the rules and of their tests."""
    folder = tmp_path / "copy"
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("xlalint", "rules", "tools", "docs", "tests/rules"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    for name in ("CHANGELOG.md", "pyproject.toml", "tests/conftest.py"):
        shutil.copy2(ROOT / name, folder / name)
    (folder / "xlalint" / "rules").symlink_to(folder / "rules", target_is_directory=True)
    return folder


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Python in the copy, with the copy's own packages."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTEST_ADDOPTS": ""}
    return subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True, env=environment)


def test_the_pages_tests_accept_the_rule_but_for_the_figures_of_the_device(whole_checkout: Path) -> None:
    made = run(whole_checkout, "-m", "xlalint", "new-rule", "XLA699", "thing-in-step")
    assert (made.returncode, made.stderr) == (0, "")
    assert "python tools/measure_pages.py XLA699" in made.stdout
    checks = "xla699 or every_rule_has_a_page or given_once"
    tested = run(whole_checkout, "-m", "pytest", "tests/rules", "-k", checks, "-p", "no:cacheprovider")
    (failed,) = re.findall(r"^FAILED (\S+)", tested.stdout, re.MULTILINE)
    assert failed.endswith("test_figures_name_their_versions_and_no_times[xla699_thing_in_step]"), tested.stdout
    assert int(re.findall(r"(\d+) passed", tested.stdout)[0]) >= 10, tested.stdout
    assert "`python tools/measure_pages.py XLA699` runs its programs" in tested.stdout


def test_the_generated_pages_know_the_rule(whole_checkout: Path) -> None:
    run(whole_checkout, "-m", "xlalint", "new-rule", "xla699", "thing-in-step")
    assert "docs/rules/xla699.md is missing" in run(whole_checkout, "tools/write_docs.py", "--check").stderr
    assert run(whole_checkout, "tools/write_docs.py").returncode == 0
    assert run(whole_checkout, "tools/write_docs.py", "--check").returncode == 0
    assert "thing-in-step" in run(whole_checkout, "-m", "xlalint", "rule", "XLA699").stdout


def test_the_change_log_gets_a_line_in_what_is_added(xlalint: Xlalint, checkout: Path) -> None:
    outcome = xlalint("new-rule", "XLA605", "double-precision")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines()[:3] == [
        "wrote rules/xla605_double_precision.py",
        "wrote rules/xla605_double_precision.md",
        "wrote CHANGELOG.md",
    ]
    text = (checkout / "CHANGELOG.md").read_text(encoding="utf-8")
    entry = next(line for line in text.splitlines() if "XLA605" in line)
    assert text == CHANGE_LOG.replace("- One thing.\n", f"- One thing.\n{entry}\n")


@pytest.mark.parametrize(
    ("log", "wanted"),
    [
        ("## [Unreleased]\n", "## [Unreleased]\n\n### Added\n\nENTRY\n"),
        ("## [Unreleased]\n\n## [0.1.0]\n", "## [Unreleased]\n\n### Added\n\nENTRY\n\n## [0.1.0]\n"),
        ("## [Unreleased]\n\n### Added\n\n- One.\n", "## [Unreleased]\n\n### Added\n\n- One.\nENTRY\n"),
    ],
)
def test_a_change_log_of_another_form_gets_its_line_too(
    xlalint: Xlalint, checkout: Path, log: str, wanted: str
) -> None:
    (checkout / "CHANGELOG.md").write_text(log, encoding="utf-8")
    assert xlalint("new-rule", "XLA605", "double-precision").code == 0
    text = (checkout / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.sub(r"- XLA605.*", "ENTRY", text) == wanted


@pytest.mark.parametrize(
    ("code", "name", "told"),
    [
        ("XLA304", "another", "XLA304 is taken by rules/xla304_unique.md"),
        ("xla304", "another", "XLA304 is taken by rules/xla304_unique.md"),
        ("XLA399", "unique", "the name `unique` is taken by rules/xla304_unique.md"),
        ("XLA60", "thing", "`XLA60` is no code: it is XLA and three digits, such as XLA605"),
        ("ABC605", "thing", "`ABC605` is no code"),
        ("XLA905", "thing", "`XLA905` has no family: the first digit is one of 1 host-transfer"),
        ("XLA605", "Double-Precision", "`Double-Precision` is no name"),
        ("XLA605", "double_precision", "`double_precision` is no name"),
        ("XLA605", "double--precision", "`double--precision` is no name"),
        ("XLA605", "../double", "`../double` is no name"),
        ("XLA605", "", "`` is no name"),
    ],
)
def test_what_can_not_be_begun_is_one_line(xlalint: Xlalint, checkout: Path, code: str, name: str, told: str) -> None:
    before = sorted(checkout.rglob("*"))
    outcome = xlalint("new-rule", code, name)
    (line,) = outcome.errors
    assert (outcome.code, outcome.out) == (2, "")
    assert told in line
    assert sorted(checkout.rglob("*")) == before
    assert (checkout / "CHANGELOG.md").read_text(encoding="utf-8") == CHANGE_LOG


@pytest.mark.parametrize("gone", ["rules/__init__.py", "tools/measure_pages.py", "CHANGELOG.md"])
def test_a_folder_that_is_no_checkout_is_told(xlalint: Xlalint, checkout: Path, gone: str) -> None:
    (checkout / gone).unlink()
    outcome = xlalint("new-rule", "XLA605", "double-precision")
    (line,) = outcome.errors
    assert outcome.code == 2
    assert line.endswith(f"is no checkout of xlalint: there is no {gone}")


def test_a_change_log_without_the_part_is_told(xlalint: Xlalint, checkout: Path) -> None:
    (checkout / "CHANGELOG.md").write_text("# Changes\n", encoding="utf-8")
    outcome = xlalint("new-rule", "XLA605", "double-precision")
    assert outcome.errors == ["xlalint: error: CHANGELOG.md has no part `## [Unreleased]`"]
    assert not (checkout / "rules" / "xla605_double_precision.py").exists()
