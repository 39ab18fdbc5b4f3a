"""What each row of ``frameworks.csv`` is there for, as ``tools/framework_evidence.py`` found it: a row that is dropped
or changed is noticed, whatever else is tested of it."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from framework_programs import Case, told

from xlalint.knowledge.tables import frameworks


def evidence() -> dict[Case, str]:
    lines = Path(__file__).with_name("framework_evidence.csv").read_text(encoding="utf-8").splitlines()
    rows = csv.DictReader(line for line in lines if not line.startswith("#"))
    return {Case(row["kind"], row["name"], int(row["way"])): row["told"] for row in rows}


EVIDENCE = evidence()


@pytest.mark.parametrize("kind", sorted({case.kind for case in EVIDENCE}))
def test_the_same_is_told_as_when_the_row_was_looked_at(kind: str) -> None:
    expected = {case: text for case, text in EVIDENCE.items() if case.kind == kind}
    assert told(expected) == expected


def test_no_row_with_evidence_is_gone() -> None:
    assert [case for case in EVIDENCE if frameworks().get(case.kind, case.name) is None] == []
