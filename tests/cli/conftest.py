"""The command line, run in this process, in an empty folder."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from commands import Outcome, Xlalint

from xlalint.cli import main
from xlalint.facts.engine.engine import Engine
from xlalint.facts.state.frame import Frame


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


@pytest.fixture
def unlucky(monkeypatch: pytest.MonkeyPatch) -> None:
    """The analysis fails wherever it comes to the end of a function of this name."""
    value_of = Engine.value_of

    def failing(engine: Engine, frame: Frame) -> object:
        if frame.function.name == "unlucky":
            raise KeyError("in the\nmiddle")
        return value_of(engine, frame)

    monkeypatch.setattr(Engine, "value_of", failing)
