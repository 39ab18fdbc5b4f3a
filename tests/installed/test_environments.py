"""Which packages are followed, and what is kept of them between runs: seen by the command line."""

import json
from pathlib import Path

import pytest

from xlalint.cli import main
from xlalint.installed.environment import folder_with, folders_of, version_of

SCRIPT = """\
import meters
import torch
import torch_xla


def train(model, loader, optimizer):
    for x in loader:
        loss = model(x).sum()
        meters.note(loss)
        loss.backward()
        optimizer.step()
        torch_xla.sync()
"""
READS = "def note(x):\n    return x.item()\n"
FREE = "def note(x):\n    return x.detach()\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A script, a virtual environment beside it that has ``meters`` 1.2, and a folder for what is kept."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)
    monkeypatch.setenv("XLALINT_CACHE_DIR", str(tmp_path / "kept"))
    (tmp_path / "train.py").write_text(SCRIPT, encoding="utf-8")
    install(tmp_path / ".venv", READS)
    return tmp_path


def install(environment: Path, text: str) -> Path:
    site = environment / "lib" / "python3.11" / "site-packages"
    (site / "meters").mkdir(parents=True, exist_ok=True)
    (site / "meters" / "__init__.py").write_text(text, encoding="utf-8")
    (site / "meters-1.2.dist-info").mkdir(exist_ok=True)
    return site


def findings(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    capsys.readouterr()
    main(["--output-format", "json", *arguments, "train.py"])
    return [one["code"] for one in json.loads(capsys.readouterr().out)["findings"]]


def test_the_environment_beside_the_script_is_followed(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert findings(capsys) == ["XLA131"]
    assert findings(capsys, "--no-follow") == []


def test_another_environment_may_be_named(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    site = install(project / "other", FREE)
    (project / "other" / "bin").mkdir()
    (project / "other" / "bin" / "python").touch()
    for named in ("other", "other/bin/python", str(site)):
        assert findings(capsys, "--python", named) == []
    (project / "xlalint.toml").write_text('python = "other"\n', encoding="utf-8")
    assert findings(capsys) == []
    (project / "xlalint.toml").write_text("follow = false\n", encoding="utf-8")
    assert findings(capsys, "--follow") == ["XLA131"]


def test_answers_are_kept_by_version_until_a_file_changes(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = project / "kept" / "packages" / "meters-1.2.msgpack"
    assert findings(capsys, "--no-cache") == ["XLA131"]
    assert not kept.exists()
    assert findings(capsys) == ["XLA131"]
    written = kept.read_bytes()
    assert findings(capsys) == ["XLA131"]
    assert kept.read_bytes() == written
    install(project / ".venv", FREE)
    assert findings(capsys) == []
    assert kept.read_bytes() != written


def test_what_was_kept_and_is_broken_is_found_out_again(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = project / "kept" / "packages" / "meters-1.2.msgpack"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(b"\xff\x00 nothing")
    assert findings(capsys) == ["XLA131"]
    assert kept.read_bytes() != b"\xff\x00 nothing"


def test_where_nothing_can_be_kept_the_findings_are_the_same(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "kept").write_text("a file stands where the folder would be", encoding="utf-8")
    assert findings(capsys) == ["XLA131"]


def test_processes_find_what_one_finds(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "evaluate.py").write_text(SCRIPT.replace("train", "tune"), encoding="utf-8")
    runs = []
    for jobs in ("1", "2"):
        capsys.readouterr()
        main(["--output-format", "json", "--no-cache", "--jobs", jobs, "."])
        runs.append(json.loads(capsys.readouterr().out)["findings"])
    assert runs[0] == runs[1]
    assert [one["path"] for one in runs[0]] == ["evaluate.py", "train.py"]


def test_a_version_is_that_of_the_distribution_that_brought_the_package(tmp_path: Path) -> None:
    site = install(tmp_path, READS)
    (site / "PyYAML-6.0.dist-info").mkdir()
    (site / "PyYAML-6.0.dist-info" / "top_level.txt").write_text("_yaml\nyaml\n", encoding="utf-8")
    assert [version_of(str(site), name) for name in ("meters", "yaml", "nothing")] == ["1.2", "6.0", ""]


def test_packages_are_found_where_debian_has_those_of_its_own_python(tmp_path: Path) -> None:
    (tmp_path / "lib" / "python3" / "dist-packages").mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    for name in ("python3", "ls"):
        (tmp_path / "bin" / name).touch()
    there = (str((tmp_path / "lib" / "python3" / "dist-packages").resolve()),)
    assert folders_of("bin/python3", str(tmp_path)) == folders_of(".", str(tmp_path)) == there
    assert folders_of("bin/ls", str(tmp_path)) == folders_of("bin", str(tmp_path)) == ()


def test_an_environment_that_is_not_there_has_no_packages(tmp_path: Path) -> None:
    assert folders_of("nowhere", str(tmp_path)) == ()
    assert folder_with((str(tmp_path),), "meters") is None
