"""The op table as the engine sees it: lookups, conditions on arguments, and that nobody edited it by hand."""

import subprocess
import sys
from pathlib import Path

import pytest

from xlalint.knowledge.conditions import UNSETTLED, Argument, ConditionError, decide, parse
from xlalint.knowledge.ops import (
    CONDITIONS,
    TABLE,
    OpRow,
    OpTableError,
    digest,
    load_ops,
    read_conditions,
    read_table,
)

OPS = load_ops()
TENSOR = Argument(tensor=True, dtypes=frozenset({"float"}))
MASK = Argument(tensor=True, dtypes=frozenset({"bool"}))


def number(value: object) -> Argument:
    return Argument(value=value, tensor=False)


def image(*shape: int) -> Argument:
    return Argument(tensor=True, rank=len(shape), shape=shape)


def row_of(name: str) -> OpRow:
    row = OPS.function(name)
    assert row is not None
    return row


def test_the_measured_table_is_as_the_tool_wrote_it() -> None:
    text = TABLE.read_text(encoding="utf-8")
    assert OPS.header["sha256"] == digest(text), "ops.csv was edited by hand: put it in op_conditions.csv with a probe"
    assert digest(text.replace("never", "always", 1)) != digest(text)


def test_names_are_sorted_and_stand_once() -> None:
    names = [row.name for row in OPS.rows]
    assert names == sorted(set(names))


def test_conditions_speak_of_parameters() -> None:
    strange: list[str] = []
    for row in OPS.rows:
        for text in {row.condition, row.backward_condition} - {"", UNSETTLED}:
            names = {atom.argument for alternative in parse(text) for atom in alternative}
            known = {*row.parameter_names, "*"} | {name for name in names if name.startswith("call.")}
            strange += [f"{row.name}: {name}" for name in names - known]
    assert strange == []


def test_hand_rows_name_measured_ops_once_a_phase() -> None:
    hand = [(row.name, row.phase) for row in read_conditions(CONDITIONS)]
    measured = {row.name for row in OPS.rows}
    assert len(hand) == len(set(hand))
    assert {name for name, _ in hand} <= measured


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("torch.addmm", "torch.addmm"),
        ("torch.inverse", "torch.linalg.inv"),
        ("torch.relu_", "torch.nn.functional.relu"),
        ("torch.conv2d", "torch.nn.functional.conv2d"),
        ("torch.nothing", None),
    ],
)
def test_functions_are_found_by_name_alias_and_in_place_form(name: str, found: str | None) -> None:
    row = OPS.function(name)
    assert (row.name if row else None) == found


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("masked_fill_", "torch.Tensor.masked_fill_"),
        ("add_", "torch.add"),
        ("median", "torch.median"),
        ("det", "torch.linalg.det"),
        ("__getitem__", "torch.Tensor.__getitem__"),
        ("one_hot", None),
        ("_", None),
    ],
)
def test_methods_are_found_with_their_in_place_forms(name: str, found: str | None) -> None:
    row = OPS.method(name)
    assert (row.name if row else None) == found


@pytest.mark.parametrize(
    ("name", "arguments", "cost"),
    [
        ("torch.nn.functional.one_hot", {"input": TENSOR}, True),
        ("torch.nn.functional.one_hot", {"input": TENSOR, "num_classes": number(-1)}, True),
        ("torch.nn.functional.one_hot", {"input": TENSOR, "num_classes": number(9)}, False),
        ("torch.nn.functional.one_hot", {"input": TENSOR, "num_classes": Argument(tensor=False)}, None),
        ("torch.addmm", {"input": TENSOR, "beta": number(1), "alpha": number(2)}, True),
        ("torch.addmm", {"input": TENSOR, "beta": number(1)}, False),
        ("torch.narrow", {"input": TENSOR, "dim": number(0), "start": TENSOR}, True),
        ("torch.narrow", {"input": TENSOR, "dim": number(0), "start": number(1)}, False),
        ("torch.repeat_interleave", {"input": TENSOR, "repeats": number(2)}, False),
        ("torch.Tensor.__getitem__", {"input": TENSOR, "index": MASK}, True),
        ("torch.Tensor.__getitem__", {"input": TENSOR, "index": number(0)}, False),
        ("torch.Tensor.__getitem__", {"input": TENSOR, "index": Argument(tensor=True)}, None),
        ("torch.nn.functional.adaptive_avg_pool2d", {"input": TENSOR, "output_size": number(1)}, False),
        ("torch.nn.functional.adaptive_avg_pool2d", {"input": TENSOR, "output_size": number((7, 7))}, None),
        ("torch.nn.functional.adaptive_avg_pool2d", {"input": image(2, 3, 8, 8), "output_size": number(5)}, True),
        ("torch.nn.functional.adaptive_avg_pool2d", {"input": image(2, 3, 8, 8), "output_size": number((4, 2))}, False),
        ("torch.nn.functional.interpolate", {"input": image(2, 3, 8, 8)}, False),
        ("torch.nn.functional.interpolate", {"input": image(2, 3, 8)}, True),
        ("torch.nn.functional.interpolate", {"input": TENSOR, "mode": number("bicubic")}, True),
        ("torch.nn.functional.interpolate", {"input": TENSOR, "mode": number("bilinear")}, False),
        ("torch.multinomial", {"input": TENSOR, "num_samples": number(1)}, False),
        ("torch.multinomial", {"input": TENSOR, "num_samples": number(2)}, True),
        ("torch.nn.BatchNorm2d", {"num_features": number(8), "momentum": number(None)}, True),
        ("torch.nn.BatchNorm2d", {"num_features": number(8), "momentum": number(0.2)}, False),
        ("torch.median", {"input": TENSOR}, True),
        ("torch.add", {"input": TENSOR}, False),
    ],
)
def test_a_call_costs_by_its_arguments(name: str, arguments: dict[str, Argument], cost: bool | None) -> None:
    assert row_of(name).costs_for(arguments) is cost


def test_some_ops_cost_only_in_their_backward() -> None:
    pool = row_of("torch.nn.functional.avg_pool2d")
    assert pool.costs_for({"input": TENSOR, "ceil_mode": number(True)}) is False
    assert pool.backward_costs_for({"input": TENSOR, "ceil_mode": number(True)}) is True
    assert row_of("torch.nn.functional.glu").backward_costs == "always"
    assert row_of("torch.nn.functional.glu").costs == "never"


@pytest.mark.parametrize("text", ["", "?", "nonsense:x", "value:x", "value:=1", "rank:input", "missing:"])
def test_what_is_no_condition_is_refused(text: str) -> None:
    with pytest.raises(ConditionError):
        parse(text)


def test_alternatives_and_conjunctions_with_unknowns() -> None:
    condition = parse("value:a=1&tensor:b;nondefault:c")
    known = {"a": number(1), "b": TENSOR}
    assert decide(condition, known, {"c": 0}) is True
    assert decide(condition, known | {"a": number(2)}, {"c": 0}) is False
    assert decide(condition, known | {"a": Argument(tensor=False)}, {"c": 0}) is None
    assert decide(condition, known | {"b": Argument(), "c": number(5)}, {"c": 0}) is True


def test_a_broken_table_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "ops.csv"
    broken.write_text("name,method\ntorch.add,yes\n", encoding="utf-8")
    with pytest.raises(OpTableError, match=r"ops\.csv: the columns are not name, method, aliases"):
        read_table(broken)
    head = next(line for line in TABLE.read_text(encoding="utf-8").splitlines() if line.startswith("name,"))
    broken.write_text(f"{head}\ntorch.add,yes\n", encoding="utf-8")
    with pytest.raises(OpTableError, match=r"2 cells, not 14, in the row of \['torch\.add'\]"):
        read_table(broken)


def test_loading_the_table_does_not_import_torch() -> None:
    code = "import sys, xlalint.knowledge.ops as ops; ops.load_ops(); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
