"""The tracked results: one row for each run of a check."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version

from tools.slow.checks import Outcome

VERSIONED = ("torch", "torch_xla", "torchvision", "transformers", "pytest")
HEAD = """\
# Checks by hand

Written by `python -m tools.slow`, newest last. A `+` stands behind a commit with changes of its own.

| date | commit | check | outcome | what it says | minutes | versions |
| --- | --- | --- | --- | --- | --- | --- |
"""


def record(results: Path, commit: str, name: str, outcome: Outcome, seconds: float) -> None:
    """Add a row, and write the head where there is no file yet."""
    text = results.read_text(encoding="utf-8") if results.exists() else HEAD
    passed = "passed" if outcome.passed else "failed"
    cells = (date.today().isoformat(), commit, name, passed, outcome.text, f"{seconds / 60:.1f}")
    row = " | ".join((*cells, ", ".join(versions())))
    results.write_text(f"{text}| {row} |\n", encoding="utf-8")


def commit_of(root: Path) -> str:
    described = subprocess.run(
        ["git", "describe", "--always", "--dirty=+", "--exclude=*"], cwd=root, capture_output=True, text=True
    )
    return described.stdout.strip() or "unknown"


def versions() -> Iterator[str]:
    yield f"Python {python_version()}"
    for name in VERSIONED:
        try:
            yield f"{name} {version(name)}"
        except PackageNotFoundError:
            continue
