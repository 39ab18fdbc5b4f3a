"""Mutants of the knowledge tables: a cell that says something else, a row that is missing."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tools.mutation.mutant import Mutant

FOLDER = "xlalint/knowledge"
Change = Callable[[str], "str | None"]
"""A cell's wrong text, or None where this cell has none."""


def swapped(pairs: dict[str, str]) -> Change:
    return pairs.get


def emptied(cell: str) -> str | None:
    return "" if cell else None


YES_NO = swapped({"yes": "no", "no": "yes"})
READS = swapped({"never": "always", "always": "never", "sometimes": "never"})


@dataclass(frozen=True)
class Table:
    """Which cells of a table are changed, and how; ``drops``: whether whole rows are left out too."""

    kind: str
    name: str
    changes: dict[str, Change]
    drops: bool = True


# `openxla`, `raises` and `result` are left alone: the linter's findings do not depend on them.
TABLES = (
    Table(
        "ops",
        "ops.csv",
        {
            "method": YES_NO,
            "reads": READS,
            "condition": emptied,
            "fallback": emptied,
            "backward_reads": READS,
            "backward_condition": emptied,
            "backward_fallback": emptied,
            "data_shape": YES_NO,
        },
        drops=False,
    ),
    Table("guards", "guards.csv", {"value_on_xla": swapped({"true": "false", "false": "true", "unknown": "false"})}),
    Table("frameworks", "frameworks.csv", {}),
    Table("other tables", "op_conditions.csv", {"condition": lambda cell: "always" if cell != "always" else "never"}),
    Table(
        "other tables", "calls.csv", {"condition": emptied, "operand": emptied, "unless": emptied, "chosen": emptied}
    ),
    Table("other tables", "results.csv", {"dtype": emptied, "shape": emptied}),
    Table("other tables", "unsupported.csv", {"condition": emptied}),
)


SUPERSEDED = {
    "reads": "forward",
    "condition": "forward",
    "fallback": "forward",
    "backward_reads": "backward",
    "backward_condition": "backward",
    "backward_fallback": "backward",
}
"""Columns of the op table, by the phase that a row of ``op_conditions.csv`` takes their place in."""


def settled_by_hand(root: Path) -> frozenset[tuple[str, str]]:
    """Ops and phases whose cost a row of ``op_conditions.csv`` says: what the measured row says of it is not used."""
    text = (root / FOLDER / "op_conditions.csv").read_text(encoding="utf-8")
    rows = csv.reader(line for line in text.splitlines() if not line.startswith("#"))
    return frozenset((name, phase) for name, phase, *_ in rows)


def mutants(root: Path) -> Iterator[Mutant]:
    by_hand = settled_by_hand(root)
    for table in TABLES:
        path = f"{FOLDER}/{table.name}"
        lines = (root / path).read_text(encoding="utf-8").splitlines(keepends=True)
        head: list[str] = []
        start = 0
        for line in lines:
            cells = [] if line.startswith("#") or not line.strip() else next(csv.reader([line]))
            if cells and not head:
                head = cells
            elif cells:
                unused = [column for column, phase in SUPERSEDED.items() if (cells[0], phase) in by_hand]
                left_alone = unused if table.kind == "ops" else []
                yield from of_row(table, path, head, cells, start, line, left_alone)
            start += len(line)


def of_row(
    table: Table, path: str, head: list[str], cells: list[str], start: int, line: str, left_alone: list[str]
) -> Iterator[Mutant]:
    name = " ".join(cells[:2]) if table.kind != "ops" else cells[0]
    if table.drops:
        yield Mutant(table.kind, path, start, line, "", f"{table.name}: the row of {name} is gone")
    for column, change in table.changes.items():
        place = head.index(column)
        wrong = change(cells[place])
        if wrong is not None and column not in left_alone:
            changed = [*cells[:place], wrong, *cells[place + 1 :]]
            label = f"{table.name}: {column} of {name} is {wrong or 'empty'}, not {cells[place]}"
            yield Mutant(table.kind, path, start, line, written(changed), label)


def written(cells: list[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()
