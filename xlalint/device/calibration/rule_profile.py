"""The part of a profile that rules make: which experiments of their pages come out otherwise on this device."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from xlalint.device.calibration.page_figures import Measured, disagreements, measure_page
from xlalint.device.worker.client import Worker
from xlalint.device.worker.experiment import Figures
from xlalint.findings.model import Mode
from xlalint.findings.pages import Claim, Page, Sides
from xlalint.findings.profile import Difference, RuleProfile

Part = Callable[[Figures], dict[str, float]]
_TOLERANCE = 0.005
"""Growth a step is counted, so less than this is rounding."""


def measure_rule(page: Page, worker: Worker, seconds: float) -> RuleProfile:
    """Run the experiments of a page; one run may take ``seconds``."""
    results = measure_page(page, worker, seconds)
    apart: dict[tuple[Mode, str], list[Measured]] = {}
    for result in results:
        apart.setdefault((result.mode, result.experiment.label), []).append(result)
    return RuleProfile(
        code=page.code,
        name=page.name,
        free_in=tuple(mode for mode in Mode if _is_free_in(mode, apart)),
        differs=tuple(_differences(apart)),
    )


def _differences(apart: dict[tuple[Mode, str], list[Measured]]) -> Iterator[Difference]:
    for (mode, label), results in apart.items():
        claims = tuple(disagreements(tuple(results)))
        if claims:
            yield Difference(mode=mode, experiment=label, claims=claims)


def _is_free_in(mode: Mode, apart: dict[tuple[Mode, str], list[Measured]]) -> bool:
    """Whether no experiment of the mode shows the cost. Where one still does, findings can't be told apart by it."""
    ours = [results for (of, _), results in apart.items() if of is mode]
    return bool(ours) and all(map(is_free, ours))


def is_free(results: list[Measured]) -> bool:
    """Whether, in one experiment and mode, the bad programs cost no more than the good ones in what the rule claims.

    Other figures than claimed are no sign of it, nor is a program that fails.
    """
    bad = [result for result in results if result.block.kind == "bad"]
    good = [result for result in results if result.block.kind == "good"]
    if not bad:
        return False
    if bad[0].experiment.raises is not None:
        return all(result.figures.failure is None for result in bad)
    if any(result.figures.failure is not None for result in (*bad, *good)):
        return False
    part, sign = _claimed(bad[0])
    metric = bad[0].experiment.metric
    # What a good program has too much of, a bad one may lack: a port that is not open.
    costly, free = ([sign * part(one.figures).get(metric, 0.0) for one in side] for side in (bad, good))
    return max(costly) <= max(free, default=0.0) + _TOLERANCE


def _claimed(result: Measured) -> tuple[Part, int]:
    """Where the cost is claimed, and 1 or -1: whether the bad have more of it or less."""
    claims = result.experiment.claims(result.mode)
    bad, good = claims.bad or Claim(), claims.good or Claim()
    sides = claims.once or Sides()
    if bad.at_least is not None or (bad.per_step or 0.0) != (good.per_step or 0.0):
        return _per_step, -1 if (bad.per_step or 0.0) < (good.per_step or 0.0) else 1
    more = bad.once if bad.once is not None else sides.bad
    less = good.once if good.once is not None else sides.good
    return _once, -1 if (more or 0.0) < (less or 0.0) else 1


def _per_step(figures: Figures) -> dict[str, float]:
    return figures.per_step


def _once(figures: Figures) -> dict[str, float]:
    return figures.once
