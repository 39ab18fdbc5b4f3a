"""Each row of the table of costly calls is run on the device."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch_xla")

# The rows are read where the engine's test reads them.
sys.path.append(str(Path(__file__).parents[1] / "knowledge"))

from costly_calls import Row, rows

from xlalint.device.experiment import Worker, measure


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Worker() as started:
        yield started


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.label)
def test_a_row_costs_what_it_says(row: Row, worker: Worker) -> None:
    figures = measure(worker, row.program, steps=2)
    assert figures.failure is None, figures.failure
    grown = figures.per_step[row.metric]
    usual = {"reads": 0, "executions": 1}[row.metric]
    assert grown == usual if row.effect == "free" else grown > usual, figures
