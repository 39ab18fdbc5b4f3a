"""What makes the exit code 1: conditions and budgets, held against runs that are made by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from xlalint.device.recording.attribution import attribute
from xlalint.device.recording.counts import Amounts, Counts
from xlalint.device.recording.debug_log import Boundary, Charge, Event, Frame, Graph, Process, Totals
from xlalint.device.trace.budget import NoBudget, budget_of, is_below, over, read_budget, write_budget
from xlalint.device.trace.conditions import NoCondition, condition, met
from xlalint.device.trace.confirmation import TraceReport, held_against
from xlalint.device.trace.model import Trace
from xlalint.device.trace.processes import differences
from xlalint.device.trace.steady_state import traced
from xlalint.findings.model import Mode

LINE, OTHER = Frame("step", "train.py", 3), Frame("evaluate", "train.py", 5)


def graph(kind: str, at: Frame = LINE, hash: str = "") -> Graph:
    return Graph(kind=kind, cause="user torch_xla.sync", hash=hash, inputs=3, frames=(at,))


def step(compiles: int = 0, reads: int = 0) -> list[Event]:
    found: list[Event] = [graph("Compilation") for _ in range(compiles)]
    amounts = Amounts(compile_seconds=0.5 * compiles)
    gained = Counts(compiles=compiles, executions=1)
    return [
        *found,
        graph("Execution"),
        Charge(LINE, gained, None, amounts),
        Charge(OTHER, Counts(reads=reads)),
        Boundary(LINE, 0),
    ]


def report(*steps: list[Event]) -> TraceReport:
    log = [Process(1), *(event for one in steps for event in one)]
    total = sum((event.gained for event in log if isinstance(event, Charge)), Counts())
    process = traced(attribute([*log, Totals(total)], "train.py".__eq__))
    return held_against(Trace(mode=Mode.LAZY, status=0, processes=(process,)), (), (), lambda code: frozenset())


def told(text: str, *steps: list[Event]) -> list[str]:
    return list(met(condition(text), report(*steps).trace))


QUIET: Sequence[list[Event]] = (step(compiles=1), step(reads=1), step(reads=1), step(reads=1))
AGAIN: Sequence[list[Event]] = (step(compiles=1), step(), step(), step(), step(compiles=1, reads=4))


@pytest.mark.parametrize(
    ("text", "steps", "expected"),
    [
        ("compiles > 0 after step 3", QUIET, []),
        (
            "compiles > 0 after step 3",
            AGAIN,
            ["1 compiles: step 5 at train.py:3 (another graph with as many inputs and outputs)"],
        ),
        ("compiles > 0 after the warm-up", QUIET, []),
        ("compiles > 1", AGAIN, ["2 compiles: step 1 at train.py:3; step 5 at train.py:3 (another graph …)"]),
        ("reads > 1 a step", QUIET, []),
        ("reads >= 1 a step", QUIET, ["1 reads in step 2 (and in 2 more of 3 steps): 1 at train.py:5"]),
        ("reads > 3 a step after step 4", AGAIN, ["4 reads in step 5: 4 at train.py:5"]),
        ("graphs > 4", QUIET, []),
        ("executions != 4", QUIET, []),
        ("fallbacks > 0 a step", AGAIN, []),
        ("compiles > 0 after step 9", QUIET, ["no step came after step 9: the run has 4 in all"]),
    ],
)
def test_a_condition_names_the_step_and_the_line(text: str, steps: Sequence[list[Event]], expected: list[str]) -> None:
    found = told(text, *steps)
    assert [one.replace("another graph with as many inputs and outputs)", "another graph …)") for one in found] == [
        one.replace("another graph with as many inputs and outputs)", "another graph …)") for one in expected
    ]


@pytest.mark.parametrize(
    "text", ["", "compiles", "compiles > many", "losses > 3", "reads > 1 a day", "reads > 1 after"]
)
def test_what_is_no_condition_is_refused(text: str) -> None:
    with pytest.raises(NoCondition, match="is no condition of the form"):
        condition(text)


def test_a_run_without_a_device_meets_each_condition() -> None:
    nothing = Trace(mode=Mode.LAZY, status=0, processes=())
    assert list(met(condition("compiles > 0"), nothing)) == ["no process used an XLA device"]


def test_a_budget_is_kept_read_and_held_against_a_run(tmp_path: Path) -> None:
    path = tmp_path / "xla-budget.toml"
    write_budget(path, {"lazy": budget_of(report(*QUIET))})
    budget = read_budget(path)["lazy"]
    assert (budget.compiles, budget.executions, budget.reads) == (0, 1, 1)
    assert budget.functions == {"train.py step": {"executions": 1}, "train.py evaluate": {"reads": 1}}
    assert list(over(budget, report(*QUIET))) == []
    assert not is_below(budget, report(*QUIET))
    more = [step(compiles=1), step(reads=2), step(reads=2), step(reads=2, compiles=1)]
    assert list(over(budget, report(*more))) == [
        "1 compiles after the warm-up, the budget is 0: train.py:3, step 4 "
        "(another graph with as many inputs and outputs)",
        "2 reads in a steady step, the budget is 1: train.py:5 in evaluate (2)",
    ]
    assert is_below(budget, report(step(compiles=1), step(), step()))
    assert list(over(budget, report())) == ["the run has no steps that could be held against it"]


@pytest.mark.parametrize("text", ["lazy = 3", "[lazy]\nreeds = 1", "[lazy", "[lazy]\nreads = 'one'"])
def test_what_is_no_budget_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "budget.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(NoBudget, match=r"budget\.toml: no budget"):
        read_budget(path)


def test_the_process_that_runs_other_graphs_is_named() -> None:
    runs = [["a", "b", "b"], ["a", "b", "b"], ["a", "c", "b"], ["a", "b"]]
    processes = [traced(attribute([graph("Execution", hash=each) for each in run], "train.py".__eq__)) for run in runs]
    named = [msgspec.structs.replace(one, log=f"host{number}.log") for number, one in enumerate(processes)]
    assert list(differences(named)) == [
        "host2.log: from its graph 2 on, at train.py:3, it runs others than the others",
        "host3.log ran 2 graphs, the others 3",
    ]
