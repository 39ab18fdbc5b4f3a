"""The guards of torch itself are evaluated on the device; those of other packages have a source instead."""

import csv
from importlib import resources

import pytest

pytest.importorskip("torch_xla")

from probing import Ending, run_probes

_TEXT = (resources.files("xlalint.knowledge") / "guards.csv").read_text(encoding="utf-8")
ROWS = [row for row in csv.DictReader(_TEXT.splitlines()) if row["source"].startswith("probe")]


def _expression(row: dict[str, str]) -> str:
    name = row["name"]
    if row["form"] == "attribute":
        return f"x{name}"
    if row["form"] == "compare":
        attribute, _, literal = name.partition("=")
        return f"x.{attribute} == {literal!r}"
    return f"{name}({'x' if name.endswith('is_xla_tensor') else ''})"


def _probe(row: dict[str, str]) -> str:
    value = row["value_on_xla"].title()
    return f"import torch.fx, torch.onnx, torch._dynamo; assert bool({_expression(row)}) is {value}"


@pytest.fixture(scope="module")
def endings() -> dict[str, Ending]:
    return run_probes([_probe(row) for row in ROWS])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_a_guard_has_its_value_on_the_device(row: dict[str, str], endings: dict[str, Ending]) -> None:
    ending = endings[_probe(row)]
    if ending.gpu and "cuda" in row["name"]:
        pytest.skip("this machine has a GPU")
    assert not ending.raised, ending
