"""The roots that cost most, by the scale of ``docs/reports.md``: what was measured on the CPU device, times the bounds
of the loops around."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

import msgspec

from xlalint.facts.events import Certainty, Heat
from xlalint.findings.model import Diagnostic, Severity
from xlalint.findings.roots import Group
from xlalint.reports.summary import plural

Measured = Mapping[str, Mapping[str, float]]
"""By the code of a rule, what its page's experiment shows: metric → more of it in each step."""

MOST_ROOTS: Final = 5
SHORT_LIST: Final = 10
"""So many roots are seen at a glance."""
_KINDS: Final = (("compiles",), ("fallbacks", "reads"), ("executions", "uploads", "pending_ops", "live_tensors"))
"""The metrics by what they cost, the dearest first."""
_NOUNS: Final[Mapping[str, str]] = MappingProxyType({"pending_ops": "pending op", "live_tensors": "live tensor"})
_OFTEN: Final[Mapping[Heat, str]] = MappingProxyType(
    {
        Heat.INNER: "in every step",
        Heat.STEP: "in every step",
        Heat.AMORTISED: "in some steps",
        Heat.CALL: "once per call",
        Heat.EPOCH: "once per epoch",
        Heat.ONCE: "once",
    }
)


class Cost(msgspec.Struct, frozen=True):
    """What a root costs: the dearest metric of those in each step, and how much of it all its places make."""

    metric: str
    amount: float
    often: str
    """How often, as in a message."""


class Ranked(msgspec.Struct, frozen=True):
    group: Group
    cost: Cost

    @property
    def told(self) -> str:
        amount = round(self.cost.amount, 1)
        number = int(amount) if amount == int(amount) else amount
        noun = _NOUNS.get(self.cost.metric, self.cost.metric.removesuffix("s"))
        return f"{plural(number, noun)} {self.cost.often}"


def most_costly(groups: Sequence[Group], measured: Measured) -> tuple[Ranked, ...]:
    """The first five of those whose cost was measured; notes, and what is only possible, come after all else."""
    found = []
    for group in groups:
        ranked = _ranked(group, measured)
        if ranked is not None:
            found.append(ranked)
    found.sort(key=lambda one: one[0])
    return tuple(one for _, one in found[:MOST_ROOTS])


def _ranked(group: Group, measured: Measured) -> tuple[tuple[object, ...], Ranked] | None:
    """A group with what it is sorted by: its level, how often, what kind of cost, how much of it."""
    heat = max(_pace(one) for one in group.members)
    hottest = [one for one in group.members if _pace(one) is heat]
    for kind, metrics in enumerate(_KINDS):
        amounts = {metric: sum(_grown(one, metric, measured) for one in hottest) for metric in metrics}
        metric = max(metrics, key=lambda one: amounts[one])
        if amounts[metric] > 0:
            cost = Cost(metric, amounts[metric], _OFTEN[heat])
            shown = group.shown
            is_lesser = shown.severity is Severity.NOTE or shown.certainty is Certainty.POSSIBLE
            key = (is_lesser, -heat, kind, -sum(amounts.values()), shown.path, shown.at, shown.code)
            return key, Ranked(group, cost)
    return None


def _pace(one: Diagnostic) -> Heat:
    """What runs several times in a step runs in each: how often, its bound says."""
    return min(one.heat, Heat.STEP)


def _grown(one: Diagnostic, metric: str, measured: Measured) -> float:
    return measured.get(one.code, {}).get(metric, 0.0) * one.repeats
