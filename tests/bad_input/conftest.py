"""Bad input is given to the real command, in a process of its own: a hang or a crash must not look like a failure."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from outcome import Outcome, Xlalint


@pytest.fixture
def xlalint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Xlalint:
    monkeypatch.chdir(tmp_path)
    environment = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}

    def run(*arguments: str, stdin: bytes = b"") -> Outcome:
        done = subprocess.run(
            [sys.executable, "-m", "xlalint", *arguments],
            input=stdin,
            capture_output=True,
            timeout=120,
            env=environment,
        )
        outcome = Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())
        assert outcome.code in (0, 1, 2), outcome.err
        assert "Traceback" not in outcome.err
        assert "internal error" not in outcome.err, outcome.err
        return outcome

    return run
