"""Two measured programs, one with the flagged cost and one without → a verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from xlalint.device.worker.experiment import Figures
from xlalint.findings.model import Growth, Mode, ModeEvidence, Verdict

SHOWN = ("compiles", "executions", "reads", "uploads", "fallbacks", "graph_breaks", "pending_ops", "live_tensors")
SECONDS = "host_seconds"
TIMES = 5
"""Seconds on a busy machine tell only of what takes several times as long."""
SHORTEST = 0.01
ASSUMED = "assumed"
"""Begins the reason of what was run, and rests on something that nobody in sight says."""
RAN = "it ran"
NOTHING_RAN = "nothing in its program is executed on the device"


def compared(before: Figures, after: Figures, claims: Mapping[str, bool], assumed: str) -> ModeEvidence:
    """The verdict on a pair of runs. ``claims`` are the metrics that must show the cost, with whether they must in
    each step; ``assumed`` says why no run can confirm it, or nothing."""
    claimed, growth, holds = _claimed(before, after, claims)
    if assumed:
        verdict, reason = Verdict.NOT_RUN, assumed
    elif growth != "none" and holds:
        verdict, reason = Verdict.CONFIRMED, _told(before, after, claimed, growth)
    elif _total(before, "executions", 2 * before.steps) <= 0:
        verdict, reason = Verdict.NOT_RUN, NOTHING_RAN
    elif growth == "none":
        verdict, reason = Verdict.REFUTED, f"{RAN}, and without it there are as many {_named(claims)}"
    else:
        told = _told(before, after, claimed, growth)
        verdict, reason = Verdict.REFUTED, f"{RAN}, and costs {told}, but no more with each further step"
    return ModeEvidence(
        verdict=verdict,
        reason=reason,
        before=_totals(before),
        after=_totals(after),
        per_step={name: _rounded(before.per_step[name] - after.per_step[name]) for name in SHOWN},
        growth=growth,
    )


def is_free(before: Figures, claims: Mapping[str, bool]) -> bool:
    """Whether a program has no cost of the claimed kinds at all."""
    known = [name for name in claims if name in before.per_step]
    return bool(known) and all(_total(before, name, 2 * before.steps) <= 0 for name in known)


def not_run(reason: str) -> ModeEvidence:
    return ModeEvidence(verdict=Verdict.NOT_RUN, reason=reason)


def raised(reason: str) -> ModeEvidence:
    return ModeEvidence(verdict=Verdict.CONFIRMED, reason=reason, growth="once")


def summed_up(modes: dict[Mode, ModeEvidence]) -> tuple[Verdict, str]:
    """Confirmed if any mode is; else refuted if any mode is."""
    for verdict in (Verdict.CONFIRMED, Verdict.REFUTED, Verdict.NOT_RUN):
        for mode in modes.values():
            if mode.verdict is verdict:
                return verdict, mode.reason
    return Verdict.NOT_RUN, "no mode was asked for"


def growth_of(before: Figures, after: Figures, metric: str) -> Growth:
    """How the difference between two programs grows with the steps."""
    steps = before.steps
    if metric == SECONDS:
        longer = _total(before, metric, 2 * steps) >= TIMES * max(_total(after, metric, 2 * steps), SHORTEST)
        return "per-step" if longer else "none"
    short = _total(before, metric, steps) - _total(after, metric, steps)
    long = _total(before, metric, 2 * steps) - _total(after, metric, 2 * steps)
    if long <= 0:
        return "none"
    if (long - short) / steps >= 0.5:
        return "per-step"
    return "once" if long <= 1 and long == short else "bounded"


def _claimed(before: Figures, after: Figures, claims: Mapping[str, bool]) -> tuple[str, Growth, bool]:
    """The metric that shows the cost, its growth, and whether it grows as is claimed.

    How many compiles there are in the end depends on how many shapes or numbers the stand-ins go through.
    """
    grown = [
        (metric, growth, growth == "per-step" or not each or (metric == "compiles" and growth == "bounded"))
        for metric, each in claims.items()
        if metric in before.per_step
        for growth in [growth_of(before, after, metric)]
    ]
    costly = [each for each in grown if each[1] != "none"]
    holding = [each for each in costly if each[2]]
    return (holding or costly or grown or [("", "none", True)])[0]


def _total(figures: Figures, metric: str, steps: int) -> float:
    return round(figures.once[metric] + figures.per_step[metric] * steps, 6)


def _totals(figures: Figures) -> dict[str, float]:
    return {name: _rounded(_total(figures, name, 2 * figures.steps)) for name in SHOWN}


def _rounded(value: float) -> float:
    return round(value, 2) + 0.0


def _told(before: Figures, after: Figures, metric: str, growth: Growth) -> str:
    difference = _rounded(before.per_step[metric] - after.per_step[metric])
    noun = metric.replace("_", " ")
    noun = noun.removesuffix("s") if difference == 1 and growth == "per-step" else noun
    if growth == "per-step":
        return f"{difference:g} {noun} in each step"
    steps = 2 * before.steps
    total = _rounded(_total(before, metric, steps) - _total(after, metric, steps))
    return f"{total:g} {noun} in {steps} steps"


def _named(metrics: Iterable[str]) -> str:
    return " and ".join(metric.replace("_", " ") for metric in metrics)
