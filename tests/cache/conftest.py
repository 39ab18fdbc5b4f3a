"""A project in an empty folder, a cache beside it, and runs in this process."""

from __future__ import annotations

from pathlib import Path

import pytest
from runs import FILES, Lint, Outcome, write

from xlalint.cli import main


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XLALINT_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def lint(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Lint:
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    monkeypatch.delenv("XLALINT_TRACEBACK", raising=False)
    write(FILES)

    def run(*arguments: str) -> Outcome:
        capfd.readouterr()
        code = main(["--jobs", "1", "--verbose", *(arguments or ["."])])
        return Outcome(code, *capfd.readouterr())

    return run
