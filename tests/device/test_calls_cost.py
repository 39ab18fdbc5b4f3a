"""Each row of the table of costly calls is run on the device."""

import pytest

pytest.importorskip("torch_xla")

from costly_calls import Row, rows

from xlalint.device.worker.experiment import Worker, measure


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.label)
def test_a_row_costs_what_it_says(row: Row, worker: Worker) -> None:
    figures = measure(worker, row.program, steps=2, preload=row.imports)
    assert figures.failure is None, figures.failure
    grown = figures.per_step[row.metric]
    usual = {"reads": 0, "executions": 1}[row.metric]
    assert grown == usual if row.effect == "free" else grown > usual, figures
