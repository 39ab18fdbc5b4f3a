"""Two measured programs → a verdict: whether the difference is the cost that was claimed."""

from __future__ import annotations

import pytest

from xlalint.device.validation.verdicts import NOTHING_RAN, SHOWN, compared
from xlalint.device.worker.experiment import Figures
from xlalint.findings.model import Verdict


def figures(metric: str = "", per_step: float = 0, once: float = 0) -> Figures:
    """A program that costs so much in ``metric``, and nothing else."""
    nothing = {**dict.fromkeys(SHOWN, 0.0), "executions": 1.0}
    if not metric:
        return Figures(steps=6, per_step=nothing, once=nothing)
    return Figures(steps=6, per_step={**nothing, metric: per_step}, once={**nothing, metric: once})


@pytest.mark.parametrize(
    ("metric", "per_step", "once", "in_each_step", "verdict", "growth"),
    [
        ("reads", 1, 0, True, Verdict.CONFIRMED, "per-step"),
        ("reads", 0, 0, True, Verdict.REFUTED, "none"),
        ("reads", 0, 1, True, Verdict.REFUTED, "once"),
        ("reads", 0, 3, True, Verdict.REFUTED, "bounded"),
        ("compiles", 0, 1, False, Verdict.CONFIRMED, "once"),
        ("compiles", 0, 1, True, Verdict.REFUTED, "once"),
        # As many as there are shapes among the stand-ins.
        ("compiles", 0, 4, True, Verdict.CONFIRMED, "bounded"),
    ],
)
def test_the_growth_must_be_that_which_is_claimed(
    metric: str, per_step: float, once: float, in_each_step: bool, verdict: Verdict, growth: str
) -> None:
    found = compared(figures(metric, per_step, once), figures(), {metric: in_each_step}, "")
    assert (found.verdict, found.growth) == (verdict, growth)


def test_of_several_claims_one_that_holds_is_enough() -> None:
    found = compared(figures("fallbacks", 1), figures(), {"reads": True, "fallbacks": True}, "")
    assert found.verdict is Verdict.CONFIRMED
    assert found.reason == "1 fallback in each step"


def test_what_had_to_be_assumed_is_shown_with_its_figures_and_not_confirmed() -> None:
    found = compared(figures("reads", 1), figures(), {"reads": True}, "nothing in sight computes `x`")
    assert (found.verdict, found.reason) == (Verdict.NOT_RUN, "nothing in sight computes `x`")
    assert found.per_step["reads"] == 1


def test_what_executes_nothing_refutes_nothing() -> None:
    idle = Figures(steps=6, per_step=dict.fromkeys(SHOWN, 0.0), once=dict.fromkeys(SHOWN, 0.0))
    found = compared(idle, idle, {"reads": True}, "")
    assert (found.verdict, found.reason) == (Verdict.NOT_RUN, NOTHING_RAN)


@pytest.mark.parametrize(("seconds", "verdict"), [(0.3, Verdict.CONFIRMED), (0.03, Verdict.REFUTED)])
def test_seconds_tell_only_of_what_takes_several_times_as_long(seconds: float, verdict: Verdict) -> None:
    found = compared(figures("host_seconds", seconds), figures("host_seconds", 0.01), {"host_seconds": True}, "")
    assert found.verdict is verdict
