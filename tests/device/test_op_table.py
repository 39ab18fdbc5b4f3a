"""The op table against the device: versions, twenty rows measured again, and the probes of the hand rows."""

import importlib.metadata
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("torch_xla", reason="the op table is checked only where torch and torch_xla are installed")
pytest.importorskip("expecttest", reason="torch's own op database can't be imported without expecttest")

from xlalint.knowledge.ops import COLUMNS, CONDITIONS, TABLE, HandCondition, load_ops, read_conditions, read_table

ROOT = Path(__file__).parents[2]
OPS = load_ops()
HAND = read_conditions(CONDITIONS)
AGAIN = 20
"""So many rows are measured anew; which ones depends on the table, so that every new table has others tried."""


def measured(*arguments: str, given: str = "") -> str:
    """What the tool prints, in a process of its own: it forks, which must happen before any device is touched."""
    done = subprocess.run(
        [sys.executable, "-m", "tools.measure_ops", *arguments],
        cwd=ROOT,
        input=given,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_the_table_was_measured_on_the_installed_versions() -> None:
    installed = {name: importlib.metadata.version(name).partition("+")[0] for name in ("torch", "torch_xla")}
    assert {name: OPS.header[name] for name in installed} == installed, "run `python -m tools.measure_ops` anew"


def test_twenty_rows_measured_again_are_the_same(tmp_path: Path) -> None:
    rows = {row.name: row for row in read_table(TABLE)[1]}
    settled = sorted(name for name, row in rows.items() if "Crash" not in row.raises)
    drawn = random.Random(OPS.header["sha256"]).sample(settled, AGAIN)
    table = tmp_path / "again.csv"
    table.write_text(",".join(COLUMNS) + "\n" + measured("again", *drawn), encoding="utf-8")
    again = {row.name: row for row in read_table(table)[1]}
    assert again == {name: rows[name] for name in drawn}


@pytest.fixture(scope="module")
def probes() -> dict[tuple[str, str], dict[str, Any]]:
    lines = [f"{row.phase}\t{text}" for row in HAND for text in (row.costs, row.free) if text]
    told = measured("probe", given="\n".join(lines))
    return {(phase, text): record for phase, text, record in map(json.loads, told.splitlines())}


@pytest.mark.parametrize("row", HAND, ids=lambda row: f"{row.name} {row.phase}")
def test_a_hand_condition_is_what_the_device_does(
    row: HandCondition, probes: dict[tuple[str, str], dict[str, Any]]
) -> None:
    assert row.costs or row.condition == "never"
    assert row.free or row.condition == "always"
    merged = OPS.function(row.name)
    assert merged is not None
    named = merged.fallback if row.phase == "forward" else merged.backward_fallback
    if row.costs:
        record = probes[row.phase, row.costs]
        assert record["reads"] or record["fallback"], record
        assert set(record["fallback"]) <= set(named), record
    if row.free:
        assert probes[row.phase, row.free] == {"reads": 0, "fallback": []}
