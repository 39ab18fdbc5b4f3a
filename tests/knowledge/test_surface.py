"""What the engine says of each row of the table of Python's surface of tensors."""

import pytest
from surface import LINE, Row, rows

from xlalint.facts.events import Effect
from xlalint.testing import all_events, facts_of


def told_of(row: Row) -> list[str]:
    facts = facts_of(row.program, assume_xla=True)
    return [event.effect.value for event in all_events(facts) if event.span.line == LINE]


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.spelling)
def test_the_engine_gives_the_effect_of_the_row(row: Row) -> None:
    expected = [] if row.effect == "free" else [row.effect]
    if row.known == "missed":
        assert told_of(row) == [], "no longer missed: clear the column `known`"
    elif row.known == "false-alarm":
        assert not expected
        assert told_of(row), "no longer a false alarm: clear the column `known`"
    else:
        assert told_of(row) == expected


def test_rows_are_written_in_the_words_of_the_table() -> None:
    effects = {effect.value for effect in Effect} | {"free"}
    table = rows()
    assert {row.effect for row in table} <= effects
    assert {row.reads for row in table} == {"always", "never", "raises"}
    assert {row.known for row in table} <= {"", "missed", "false-alarm"}
    assert len({row.spelling for row in table}) == len({row.probe for row in table}) == len(table)
    assert all(row.reads == "never" for row in table if row.effect == "free")
