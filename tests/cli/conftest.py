"""The command line, run in this process, in an empty folder."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from commands import Outcome, Xlalint

from xlalint.cli import main


@pytest.fixture
def xlalint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Xlalint:
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "XLALINT_TRACEBACK"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: str, stdin: bytes = b"") -> Outcome:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capfd.readouterr()
        code = main(arguments)
        return Outcome(code, *capfd.readouterr())

    return run
