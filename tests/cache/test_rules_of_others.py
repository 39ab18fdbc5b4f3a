"""Rules of others are a part of what a run depends on, with all that their package holds."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from runs import KEPT, Lint, write

RULE = """\
from xlalint.api import Effect, Facts, Finding, Rule, Severity

from ours.words import MESSAGE

RULE = Rule(code="OURS100", name="slow-thing", family="ours", severity=Severity.WARNING)


def check(facts: Facts):
    for event in facts.events(Effect.SCALAR_READ):
        yield Finding(rule=RULE, at=event, message=MESSAGE, help="none")
"""
PLUGIN = {
    "ours/__init__.py": "",
    "ours/words.py": "MESSAGE = 'first'\n",
    "ours/ours100_slow_thing.py": RULE,
    "ours/ours100_slow_thing.md": "# `slow-thing` (OURS100)\n",
    "ours-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: ours\nVersion: 1.0\n",
    "ours-1.0.dist-info/entry_points.txt": "[xlalint.rules]\nours = ours\n",
}


@pytest.fixture
def linted(lint: Lint, tmp_path: Path) -> Lint:
    write(PLUGIN, tmp_path / "site")
    write({"pyproject.toml": "[tool.xlalint]\nfollow = false\nplugins = ['ours']\nselect = ['OURS100']\n"})
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    command = [sys.executable, "-m", "xlalint", "--verbose", "--output-format", "concise", "."]

    def run() -> tuple[bool, str]:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)
        return KEPT in done.stderr, done.stdout + done.stderr

    return run  # type: ignore[return-value]


def test_a_plugin_is_followed_into_its_package(linted: Lint, tmp_path: Path) -> None:
    assert "first" in linted()[1]
    assert linted()[0]
    changes = (
        {"ours/words.py": "MESSAGE = 'second'\n"},
        {"ours/ours100_slow_thing.py": RULE.replace("WARNING", "ERROR")},
        {"ours/ours101_other.py": RULE.replace("OURS100", "OURS101").replace("slow-thing", "other")},
        {"ours-1.0.dist-info/entry_points.txt": "[xlalint.rules]\nours = ours\nmore = ours\n"},
        {"theirs-1.0.dist-info/METADATA": ""},
    )
    for change in changes:
        write(change, tmp_path / "site")
        is_kept, told = linted()
        assert not is_kept, change
        assert "second" in told
        assert linted()[0]
