"""What each row of ``frameworks.csv`` is there for: writes ``tests/knowledge/framework_evidence.csv``.

    python -m tools.framework_evidence             # about three minutes
    python -m tools.framework_evidence KIND ...    # these kinds only; the rest is kept

A program is written for each row, in the ways of its kind, and linted with the table as it is and with that row left
out. The first way in which the two differ is kept, with what is told of it. Rows that no program notices are listed on
standard error: either no program of ours reaches them, or nobody asks for them. Read the difference before you commit.
"""

from __future__ import annotations

import csv
import importlib
import multiprocessing
import sys
from collections import Counter
from pathlib import Path

from xlalint.findings import registry
from xlalint.knowledge import tables
from xlalint.knowledge.ops import load_ops

OUTPUT = Path(__file__).parent.parent / "tests" / "knowledge" / "framework_evidence.csv"
sys.path.append(str(OUTPUT.parent))

from framework_programs import Case, told  # noqa: E402
from framework_ways import ways  # noqa: E402

Row = tuple[str, str]


def told_without(dropped: Row | None, cases: list[Case]) -> dict[Case, str]:
    """In a process that has not read the table yet, and of which nothing is asked afterwards."""
    read = tables.rows

    def rows(name: str, columns: int) -> list[list[str]]:
        return [row for row in read(name, columns) if name != "frameworks.csv" or (row[0], row[1]) != dropped]

    tables.rows = rows
    return told(cases)


def evidence_of(rows: list[Row]) -> dict[Row, tuple[int, str]]:
    """By row the way that shows it, and what is told. Each question has a child of its own: it takes from its parent
    what is the same for all, and forgets with its end what it made of the table."""
    importlib.import_module("xlalint.facts.driver.analysis")
    registry.load_rules()
    load_ops(), tables.costly_calls(), tables.restrictions(), tables.guards()
    cases = {row: [Case(*row, way) for way in range(len(ways(row[0])))] for row in rows}
    found: dict[Row, tuple[int, str]] = {}
    with multiprocessing.get_context("fork").Pool(1, maxtasksperchild=1) as pool:
        present = pool.apply(told_without, (None, [case for row in rows for case in cases[row]]))
        for row in rows:
            without = pool.apply(told_without, (row, cases[row]))
            differing = [case for case in cases[row] if without[case] != present[case]]
            # What differs only because other programs stand beside it is no evidence.
            alone = pool.apply(told_without, (None, differing)) if differing else {}
            chosen = next((case for case in differing if alone[case] == present[case]), None)
            if chosen is None:
                print(*row, sep=",", file=sys.stderr)
            else:
                found[row] = chosen.way, present[chosen]
    return found


def kept(rows: list[Row]) -> dict[Row, tuple[int, str]]:
    """What stands in the file of some rows."""
    with OUTPUT.open(encoding="utf-8", newline="") as file:
        old = csv.DictReader(line for line in file if not line.startswith("#"))
        found = {(row["kind"], row["name"]): (int(row["way"]), row["told"]) for row in old}
    return {row: found[row] for row in rows if row in found}


def main() -> int:
    rows: list[Row] = [(kind, name) for kind, name, *_ in tables.rows("frameworks.csv", 4)]
    asked = [row for row in rows if row[0] in sys.argv[1:] or not sys.argv[1:]]
    others = [row for row in rows if row not in set(asked)]
    found = evidence_of(asked) | (kept(others) if others else {})
    with_evidence = Counter(kind for kind, _ in found)
    for kind, number in Counter(kind for kind, _ in rows).most_common():
        print(f"{kind}: {with_evidence[kind]} of {number}")
    with OUTPUT.open("w", encoding="utf-8", newline="") as file:
        file.write("# Written by `python -m tools.framework_evidence`.\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("kind", "name", "way", "told"))
        writer.writerows((*row, *found[row]) for row in rows if row in found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
