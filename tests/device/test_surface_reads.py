"""Each row of the table of Python's surface of tensors is run on the device."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch_xla")

# The rows are read where the engine's test reads them.
sys.path.append(str(Path(__file__).parents[1] / "knowledge"))

from surface import LINE, Row, rows

from xlalint.device.experiment import Worker, measure


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Worker() as started:
        yield started


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
