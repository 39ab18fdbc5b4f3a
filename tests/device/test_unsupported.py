"""Each row of the table of what XLA can't do is tried on the device."""

import csv
from importlib import resources

import pytest

pytest.importorskip("torch_xla")

from probing import Ending, run_probes

from xlalint.knowledge.conditions import parse

_TEXT = (resources.files("xlalint.knowledge") / "unsupported.csv").read_text(encoding="utf-8")
ROWS = list(csv.DictReader(_TEXT.splitlines()))


@pytest.fixture(scope="module")
def endings() -> dict[str, Ending]:
    return run_probes([row["probe"] for row in ROWS])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["probe"])
def test_a_row_says_what_happens(row: dict[str, str], endings: dict[str, Ending]) -> None:
    ending = endings[row["probe"]]
    if row["effect"] == "cuda-habit" and ending.gpu:
        pytest.skip("this machine has a GPU")
    if row["outcome"] == "raises":
        assert set(row["exception"].split("|")) & set(ending.raised), ending
    else:
        assert not ending.raised, ending


def test_the_first_row_that_holds_wins_so_plain_rows_come_last() -> None:
    seen: set[str] = set()
    for row in ROWS:
        assert row["name"] not in seen, f"{row['name']} ({row['condition']}) stands after its row without a condition"
        if not row["condition"]:
            seen.add(row["name"])


def test_conditions_are_in_the_language_of_conditions() -> None:
    conditions = {row["condition"] for row in ROWS} - {"", "cuda-or-cpu:device"}
    assert conditions
    for condition in conditions:
        assert parse(condition)
