"""Ops that are measured in batches: what one of them does to its process is its own affair."""

from __future__ import annotations

import pytest

pytest.importorskip("torch_xla")
pytest.importorskip("expecttest", reason="torch's own op database can't be imported without expecttest")

from xlalint.device.calibration.op_measurement import NotMeasurable, OpProbes, Record
from xlalint.device.worker.client import Worker

READS = "t.item()"
FREE = "x.sin()"
CRASHES = "__import__('os')._exit(3)"
SLEEPS = "__import__('time').sleep(60)"
# An alarm does not wake what has closed its ears, as native code has.
HANGS = "(__import__('signal').pthread_sigmask(0, [14]), __import__('time').sleep(60))"


def measured(worker: Worker, *texts: str, seconds: float) -> list[Record]:
    items = [("forward", text) for text in texts]
    return [record for _, record in OpProbes(worker, seconds).expressions(items)]


def test_reads_are_counted(worker: Worker) -> None:
    assert measured(worker, READS, FREE, seconds=60) == [{"reads": 1, "fallback": []}, {"reads": 0, "fallback": []}]


def test_what_crashes_or_hangs_harms_only_itself(worker: Worker) -> None:
    records = measured(worker, FREE, CRASHES, FREE, SLEEPS, READS, HANGS, FREE, seconds=3)
    free, reads = {"reads": 0, "fallback": []}, {"reads": 1, "fallback": []}
    assert [records[place] for place in (0, 2, 4, 6)] == [free, free, reads, free]
    assert records[1] == {"died": "crashed"}
    assert records[3]["failed"].startswith("TookTooLong")
    assert records[5] == {"died": "hung"}


def test_a_subject_that_crashes_is_measured_case_by_case(worker: Worker) -> None:
    probes = OpProbes(worker)
    (key,) = probes.names["torch.nn.functional.nll_loss"]
    record = probes.lazily([key])[key]
    crashed = [case for case in record["forward"] if case.get("error") == "Crash"]
    assert crashed
    assert all(case["arguments"] for case in crashed)
    assert len(record["forward"]) > len(crashed)


def test_where_the_databases_cannot_be_imported_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "xlalint.device.calibration.op_measurement._SERVE", "xlalint.device.calibration.op_probes.absent"
    )
    with Worker({"PJRT_DEVICE": "CPU"}) as worker, pytest.raises(NotMeasurable, match=r"No module named .*absent"):
        OpProbes(worker)
