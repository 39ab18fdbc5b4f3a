"""What is kept between runs is used as it was written, or not at all."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from xlalint.cli import main
from xlalint.installed.package import Package

SCRIPT = """\
import meters
import torch
import torch_xla


def train(model, loader, optimizer):
    for x in loader:
        loss = model(x.to(torch_xla.device())).sum()
        loss.backward()
        optimizer.step()
        torch_xla.sync()
        meters.mean_of(loss)
        print(loss.item())
"""
METERS = "def mean_of(x):\n    return x.mean().item()\n"
Lint = Callable[[], tuple[int, list[tuple[str, int]], str]]


@pytest.fixture
def lint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Lint:
    """The exit code, the findings and the complaints of a run that may keep what it finds out of a package."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XLALINT_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / "meters.py").write_text(METERS)
    Path("train.py").write_text(SCRIPT)

    def run() -> tuple[int, list[tuple[str, int]], str]:
        capfd.readouterr()
        # Else the run as a whole would be.
        shutil.rmtree(tmp_path / "cache" / "runs", ignore_errors=True)
        code = main(["train.py", "--python", "packages", "--output-format", "json"])
        out, err = capfd.readouterr()
        return code, [(one["code"], one["line"]) for one in json.loads(out)["findings"]], err

    return run


EXPECTED = (1, [("XLA131", 12), ("XLA101", 13)], "")


def test_a_cache_of_which_any_byte_is_wrong_is_made_anew(lint: Lint) -> None:
    assert lint() == EXPECTED
    (kept,) = Path("cache", "packages").glob("*.msgpack")
    right = kept.read_bytes()
    assert b"meters.py:2" in right
    assert lint() == EXPECTED
    draw = random.Random(14)
    for _ in range(200):
        wrong = bytearray(right)
        wrong[draw.randrange(len(wrong))] ^= draw.randrange(1, 256)
        kept.write_bytes(wrong)
        assert lint() == EXPECTED
        assert kept.read_bytes() == right


@pytest.mark.parametrize("length", [0, 1, 15, 16, 17, 40])
def test_a_cache_that_was_cut_off_is_made_anew(lint: Lint, length: int) -> None:
    lint()
    (kept,) = Path("cache", "packages").glob("*.msgpack")
    right = kept.read_bytes()
    kept.write_bytes(right[:length])
    assert lint() == EXPECTED
    assert kept.read_bytes() == right


def test_a_failure_in_a_package_is_told_in_each_run_until_it_is_mended(
    lint: Lint, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:

        def failing(*_: object) -> None:
            raise KeyError("in the package")

        patched.setattr(Package, "of_call", failing)
        told = "xlalint: warning: train.py:12: in train: in the package called here: internal error: KeyError: "
        for _ in range(2):
            code, findings, err = lint()
            assert (code, findings) == (1, [("XLA101", 13)])
            assert err.startswith(told)
    assert lint() == EXPECTED
