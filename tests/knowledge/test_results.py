"""What the linter says of the results of ops, against what torch gives: ``tools/result_evidence.py``.

It may know less than torch gives, and never anything else; and it may not come to know less than it did.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

from xlalint.testing import revealed

HERE = Path(__file__).parent
WRONG = {
    "torch.square(b)": "bool for an op that makes numbers of bools",
    "torch.real(b)": "float, as of complex numbers; of others nobody asks for it",
    "torch.real(k)": "the same",
    "torch.range(0, 6)": "int, as arange would give",
    "torch.range(0, 6, 3)": "the same",
    "torch.dstack([x, y])": "two dimensions, and it has three at least",
}
"""Known mistakes: the test fails when they are mended."""
PART = re.compile(r"(?P<dtype>[a-z0-9]*)\[(?P<dims>[^\[\]]*)\]")


def rows() -> list[dict[str, str]]:
    lines = (HERE / "result_evidence.csv").read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


ROWS = rows()


@pytest.fixture(scope="module")
def told() -> dict[str, str]:
    """Each expression in a function of its own: some write into their operands."""
    operands = "".join(f"    {line}\n" for line in (HERE / "result_operands.txt").read_text("utf-8").splitlines())
    text = "import torch\nimport torch.nn.functional as F\nimport torch_xla\n"
    lines = []
    for number, row in enumerate(ROWS):
        text += f"\n\ndef f{number}():\n    device = torch_xla.device()\n{operands}    reveal({row['expression']})\n"
        lines.append(text.count("\n"))
    found = revealed({"main.py": text})
    return {row["expression"]: found.get(("main.py", line), "") for row, line in zip(ROWS, lines, strict=True)}


def test_all_that_is_known_is_true() -> None:
    assert {row["expression"] for row in ROWS if not agrees(row["given"], row["told"])} == set(WRONG)


def agrees(given: str, said: str) -> bool:
    """Whether the parts of a result that are known are those that torch gives."""
    theirs, ours = list(PART.finditer(given)), list(PART.finditer(re.sub(r"tensor (xla|host) ?", "", said)))
    if not ours:
        return True
    return len(theirs) == len(ours) and all(part_agrees(x, y) for x, y in zip(theirs, ours, strict=True))


def part_agrees(given: re.Match[str], said: re.Match[str]) -> bool:
    theirs, ours = (match["dims"].split(", ") if match["dims"] else [] for match in (given, said))
    dtype = said["dtype"] in ("", given["dtype"])
    return dtype and len(theirs) == len(ours) and all(y in ("?", x) for x, y in zip(theirs, ours, strict=True))


def test_no_less_is_known_than_before(told: dict[str, str]) -> None:
    assert {row["expression"]: told[row["expression"]] for row in ROWS} == {
        row["expression"]: row["told"] for row in ROWS
    }
