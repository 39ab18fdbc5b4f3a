"""The figures of the accuracy run: what counts as worse than the tracked ones, and what the run says it left out."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from figures import Figure, drops, read, share, write

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.mark.parametrize(
    ("before", "after", "worse"),
    [
        (share("p", "recall", 960, 1000), share("p", "recall", 950, 1000), False),
        (share("p", "recall", 960, 1000), share("p", "recall", 949, 1000), True),
        (share("p", "recall", 960, 1000), share("p", "recall", 1000, 1000), False),
        (share("p", "boundary", 21, 21), share("p", "boundary", 20, 21), False),
        (share("p", "boundary", 21, 21), share("p", "boundary", 19, 21), True),
        (
            Figure("p", "alarms", 3.0, 20000, lower=True, per=10000),
            Figure("p", "alarms", 3.5, 20000, lower=True, per=10000),
            False,
        ),
        (
            Figure("p", "alarms", 3.0, 20000, lower=True, per=10000),
            Figure("p", "alarms", 4.0, 20000, lower=True, per=10000),
            True,
        ),
        (
            Figure("p", "alarms", 3.0, 20000, lower=True, per=10000),
            Figure("p", "alarms", 1.0, 20000, lower=True, per=10000),
            False,
        ),
    ],
)
def test_a_drop_of_more_than_a_point_and_a_case_counts(before: Figure, after: Figure, worse: bool) -> None:
    assert bool(list(drops([after], [before]))) is worse


def test_targets_are_least_or_most() -> None:
    assert share("p", "recall", 97, 100, 0.97).reached
    assert not share("p", "recall", 96, 100, 0.97).reached
    assert Figure("p", "alarms", 3.0, 9, 3, lower=True).reached
    assert not Figure("p", "alarms", 3.1, 9, 3, lower=True).reached


def test_writing_keeps_the_parts_that_were_not_measured(tmp_path: Path) -> None:
    path = tmp_path / "accuracy.json"
    write(path, [share("a", "recall", 1, 2), share("b", "recall", 1, 4, 0.5, "a remark")])
    write(path, [share("a", "recall", 2, 2)])
    assert {(one.part, one.value, one.target) for one in read(path)} == {("a", 1.0, None), ("b", 0.25, 0.5)}


def test_the_tracked_figures_are_those_of_all_parts() -> None:
    assert {one.part for one in read(BENCHMARKS / "accuracy.json")} == {"truth", "scripts", "fixes", "apps"}


def test_what_can_not_be_compared_is_said_and_no_failure(tmp_path: Path) -> None:
    command = [sys.executable, str(BENCHMARKS / "accuracy.py"), "--compare", "--shared", str(tmp_path), "--exe"]
    run = subprocess.run([*command, sys.executable], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert [line.split(":")[:2] for line in run.stdout.splitlines()] == [
        [part, " left out, not compared"] for part in ("truth", "scripts", "fixes", "apps")
    ]
