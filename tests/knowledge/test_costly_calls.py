"""The table of costly calls is well formed, and the engine says what each row says."""

import pytest
from costly_calls import Row, rows

from xlalint.facts.events import Effect
from xlalint.knowledge.conditions import parse
from xlalint.testing import all_events, facts_of

FREE = "free"


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.label)
def test_the_engine_gives_the_effect_of_the_row(row: Row) -> None:
    facts = facts_of(row.program, assume_xla=True)
    told = {event.effect.value for event in all_events(facts) if event.span.line == row.line}
    assert told == (set() if row.effect == FREE else {row.effect})


def test_rows_are_written_in_the_words_of_the_table() -> None:
    table = rows()
    assert {row.effect for row in table} <= {effect.value for effect in Effect} | {FREE}
    assert {row.metric for row in table} <= {"reads", "executions"}
    assert all(row.detail and row.probe for row in table)
    assert all(parse(row.condition) for row in table if row.condition)


def test_a_plain_row_comes_last() -> None:
    seen: set[str] = set()
    for row in rows():
        assert row.name not in seen, row.label
        if not row.condition and not row.operand:
            seen.add(row.name)
