"""What the tests on the device share: one worker for each file of tests, and the rows that the engine's tests read."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from xlalint.device.worker.experiment import Worker

sys.path.append(str(Path(__file__).parents[1] / "knowledge"))


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    with Worker({"PJRT_DEVICE": "CPU"}) as worker:
        yield worker
