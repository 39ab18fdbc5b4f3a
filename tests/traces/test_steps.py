"""Which stretches of a run are told as its steps."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from xlalint.device.recording.counts import Counts
from xlalint.device.recording.steps import Steps, steps_of
from xlalint.device.recording.stretches import BOUNDARY, MARK, UPDATE, End, Segment, Step

NOTHING = Step()


def ran(graphs: int = 1) -> Step:
    return Step(lines={("train.py", 1): Counts(executions=graphs)})


def steps(text: str, rest: int = 0) -> Steps:
    """Of words: `A` is a boundary at a place of that name, behind which a graph ran; `a` one behind which nothing did;
    `:1` an update of the first optimizer; `|` the user's mark.
    """
    return steps_of(list(_segments(text.split())), ran(rest) if rest else NOTHING)


def _segments(words: Iterable[str]) -> Iterable[Segment]:
    for word in words:
        if word == "|":
            yield Segment(NOTHING, End(MARK, None))
        elif word.startswith(":"):
            yield Segment(NOTHING, End(UPDATE, ("optimizer", word)))
        else:
            yield Segment(ran() if word.isupper() else NOTHING, End(BOUNDARY, word.upper()))


def graphs(found: Steps) -> list[int]:
    return [step.counts.executions for step in found.steps]


@pytest.mark.parametrize(
    ("text", "expected", "left"),
    [
        pytest.param("A A A", [1, 1, 1], 0, id="one boundary a turn"),
        pytest.param("A a A a A a", [1, 1, 1], 0, id="a boundary behind which nothing ran"),
        pytest.param("S A A A", [2, 1, 1], 0, id="a boundary of the set-up, passed once"),
        pytest.param("A A A E", [1, 1, 1], 1, id="a boundary of the end, passed once"),
        pytest.param("A B C A B C A B C", [3, 3, 3], 0, id="a cycle of three"),
        pytest.param("A B C A B C A B", [3, 3], 2, id="a cycle that is cut short"),
        pytest.param("A A A B A A A B", [1] * 8, 0, id="a loop in a loop"),
        pytest.param("A A A B B B", [1] * 6, 0, id="one loop behind another"),
    ],
)
def test_without_an_optimizer_steps_are_turns_of_the_cycle(text: str, expected: list[int], left: int) -> None:
    found = steps(text)
    assert graphs(found) == expected
    assert found.rest.counts.executions == left


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(":1 A :1 A :1 A", [1, 1, 1], id="the boundary behind the update"),
        pytest.param("F :1 A F :1 A F :1 A", [2, 2, 2], id="a boundary before the update as well"),
        pytest.param("A A :1 A A A :1 A A A :1 A", [3, 3, 3], id="gradients are accumulated"),
        pytest.param("L :1 L :1 M N N L :1 L :1 M N N L", [2, 4, 1, 4], id="a log now and then"),
        pytest.param(":1 A :2 B :1 A :2 B", [2, 2], id="two optimizers in turns"),
        pytest.param(":1 A :1 A :2 B :1 A :1 A :2 B", [1, 2, 1, 2], id="one optimizer for two of another"),
        pytest.param(":1 A :1 A :2 A :2 A :2 A", [1] * 5, id="one training behind another"),
    ],
)
def test_a_step_is_an_optimizers(text: str, expected: list[int]) -> None:
    found = steps(text)
    assert graphs(found) == expected
    assert found.unbounded == 0


def test_the_steps_of_an_evaluation_stand_between_those_of_the_training() -> None:
    epoch = ":1 A :1 A :1 A"
    found = steps(f"{epoch} E E E {epoch} E E E {epoch} E E E")
    assert [step.updates for step in found.steps] == [1, 1, 1, 0, 0, 0] * 3
    assert graphs(found) == [1] * 18


def test_an_evaluation_before_the_training_is_its_own() -> None:
    found = steps("E E :1 A :1 A :1 A :1 A")
    assert [step.updates for step in found.steps] == [0, 0, 1, 1, 1, 1]


def test_where_no_boundary_is_passed_the_optimizer_ends_the_step() -> None:
    segments = []
    for number in range(4):
        segments.append(Segment(ran() if number else NOTHING, End(UPDATE, ("optimizer", 1))))
    found = steps_of(segments, ran())
    assert graphs(found) == [1, 1, 1, 1]
    assert (found.unbounded, found.rest.counts.executions) == (4, 0)


def test_the_last_step_of_a_log_that_is_cut_short_has_no_end() -> None:
    words = list(_segments([":1", "A", ":1", "A", ":1"]))
    assert graphs(steps_of(words, ran(), is_cut=True)) == [1, 1]
    assert graphs(steps_of(words, ran())) == [1, 1, 0]


def test_the_users_mark_goes_before_all_else() -> None:
    found = steps("A | B :1 C | :1 A B | A B", rest=1)
    assert graphs(found) == [3, 2, 3]
    assert found.rest == NOTHING


def test_one_update_makes_no_steps() -> None:
    assert graphs(steps("A A A :1 A A")) == [1] * 5
