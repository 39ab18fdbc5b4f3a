"""Each row of the table of Python's surface of tensors is run on the device."""

import pytest

pytest.importorskip("torch_xla")

from surface import LINE, Row, rows

from xlalint.device.worker.experiment import Worker, measure


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.spelling)
def test_a_row_reads_as_it_says(row: Row, worker: Worker) -> None:
    figures = measure(worker, row.program, steps=2)
    if row.reads == "raises":
        assert figures.failure is not None, figures
        assert figures.failure.line == LINE, figures.failure
        return
    assert figures.failure is None, figures.failure
    reads = figures.per_step["reads"]
    assert reads > 0 if row.reads == "always" else reads == 0, figures
