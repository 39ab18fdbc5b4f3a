"""The op table against a second measurement of the same versions, by another program: ``tools/op_evidence.py``.

The second one is coarser: it has fewer samples, so what costs sometimes may never cost there, or always. Anything else
that differs is an error in one of the two, or is explained here.
"""

from __future__ import annotations

import csv
from pathlib import Path

import msgspec
import pytest

from xlalint.knowledge.ops import OpRow, load_ops

EXPLAINED = {
    ("torch.Tensor.__getitem__", "data_shape"): "no sample with a mask is among the first of the second measurement",
    (
        "torch.linalg.lstsq",
        "data_shape",
    ): "the rank decides of the residuals' shape; its data are not among those tried",
    (
        "torch.searchsorted",
        "forward",
    ): "the second measurement also looks for a number; that falls back by another name",
    ("torch.nn.functional.upsample", "backward"): "one sample, and each mode has a backward of its own",
    ("torch.logcumsumexp", "backward"): "of a scalar the backward is free, and only one of the two has such a sample",
}


class Evidence(msgspec.Struct, frozen=True):
    """A row of the second measurement, as text."""

    name: str
    method: str
    samples: str
    reads: str
    fallback: str
    data_shape: str
    backward_samples: str
    backward_reads: str
    backward_fallback: str


def evidence() -> list[Evidence]:
    lines = Path(__file__).with_name("op_evidence.csv").read_text(encoding="utf-8").splitlines()
    return [Evidence(**row) for row in csv.DictReader(line for line in lines if not line.startswith("#"))]


MEASURED = {row.name: row for row in load_ops().rows}
PAIRS = [(MEASURED[one.name], one) for one in evidence() if one.name in MEASURED]


def differences(row: OpRow, other: Evidence) -> list[str]:
    told = [
        *phase("forward", row.reads, row.condition, row.fallback, other.reads, other.fallback),
        *phase("backward", row.backward_reads, row.backward_condition, row.backward_fallback, *backward(other)),
    ]
    # Of `torch.linalg.norm` and the like tensors may have one of the same name, which is another op.
    if row.method and row.name.startswith("torch.masked."):
        told.append("method: a function of masks, and no method")
    plain = row.name.rpartition(".")[0] in ("torch", "torch.Tensor")
    if other.method and (row.method > (other.method == "yes") or (plain and row.method != (other.method == "yes"))):
        told.append(f"method: {other.method}")
    if not other.backward_reads and other.reads and row.backward_costs != "never":
        told.append("backward: it has none")
    if row.data_shape != (other.data_shape == "yes"):
        told.append(f"data_shape: {other.data_shape}")
    return [text for text in told if (row.name, text.partition(":")[0]) not in EXPLAINED]


def backward(other: Evidence) -> tuple[str, str]:
    return other.backward_reads, other.backward_fallback


def phase(name: str, reads: str, condition: str, fallback: tuple[str, ...], seen: str, fell: str) -> list[str]:
    """What one phase of the table says otherwise than was seen; nothing was seen where no sample ran."""
    told = []
    if seen and reads != "sometimes" and reads != seen:
        told.append(f"{name}: reads {reads}, seen {seen}")
    if seen == "sometimes" and not condition:
        told.append(f"{name}: costs without a condition, but one call was free")
    if (reads == "sometimes") != bool(condition):
        told.append(f"{name}: {reads}, under the condition {condition!r}")
    missing = set(fell.split()) - set(fallback)
    if missing:
        told.append(f"{name}: nothing is said of {' '.join(sorted(missing))}")
    if seen and seen == reads and reads != "sometimes" and set(fell.split()) != set(fallback):
        told.append(f"{name}: {' '.join(fallback)} was not seen to fall back")
    return told


@pytest.mark.parametrize(("row", "other"), PAIRS, ids=[row.name for row, _ in PAIRS])
def test_the_table_agrees_with_the_second_measurement(row: OpRow, other: Evidence) -> None:
    assert differences(row, other) == []


def test_most_of_the_table_was_measured_again() -> None:
    assert len(PAIRS) > 0.85 * len(MEASURED)


def test_what_is_explained_does_differ() -> None:
    assert {name for name, _ in EXPLAINED} <= {row.name for row, _ in PAIRS}
