"""The progress line of a terminal: one line, which names what is at work."""

from __future__ import annotations

import io

import pytest

from xlalint.cli import console
from xlalint.cli.console import ProgressLine


@pytest.fixture(autouse=True)
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "_SHOW_AFTER", 0.0)
    monkeypatch.setenv("COLUMNS", "80")


def test_a_new_remark_is_shown_at_once() -> None:
    stream = io.StringIO()
    progress = ProgressLine(stream, "findings")
    progress(0, 2, "train.py:21 XLA102")
    progress(1, 2, "1 confirmed; train.py:22 XLA202")
    assert "0/2 findings: train.py:21 XLA102" in stream.getvalue()
    assert "1/2 findings: 1 confirmed; train.py:22 XLA202" in stream.getvalue()


def test_it_stays_on_its_line() -> None:
    stream = io.StringIO()
    ProgressLine(stream, "findings")(1, 2, "x" * 200)
    (shown,) = stream.getvalue().lstrip("\r").split("\x1b[K")[:1]
    assert len(shown) == 79
