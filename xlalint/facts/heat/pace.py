"""How often a region runs: the order of paces, and which of two calls decides."""

from __future__ import annotations

import msgspec

from xlalint.facts.events import Heat
from xlalint.facts.records import FunctionKey, RegionKey
from xlalint.facts.regions import CONSTRUCTORS, FunctionFacts

HEATS = {"once": Heat.ONCE, "epoch": Heat.EPOCH, "amortised": Heat.AMORTISED, "step": Heat.STEP, "inner": Heat.INNER}


class Pace(msgspec.Struct, frozen=True):
    """How often a region runs, and why: ``loop`` is the step loop that makes it hot, ``via`` the call that does."""

    heat: Heat
    loop: tuple[FunctionKey, RegionKey] | None = None
    evaluation: bool = False
    assumed: bool = False
    host: bool = False


COLD = Pace(Heat.ONCE)


def called_in_sight(given: Pace, mine: Pace) -> bool:
    """A name that promises seldom runs is overruled by a call in a step loop that can be seen."""
    return mine.heat < Heat.STEP and given.heat >= Heat.STEP and given.loop is not None


def made_in_steps(function: FunctionFacts, given: Pace) -> bool:
    """Whether a constructor's objects come and go with the steps: those of a plain class that a step makes, as a model
    or an optimizer is made before."""
    return function.name in CONSTRUCTORS and not function.is_module and given.heat >= Heat.STEP and not given.assumed


def hotter(a: Pace, b: Pace) -> bool:
    return pace_rank(a) > pace_rank(b)


def pace_rank(pace: Pace) -> tuple[object, ...]:
    loop = pace.loop
    return (
        # A step loop in sight tells more than several times a step that is only assumed.
        min(pace.heat, Heat.STEP),
        not pace.evaluation,
        not pace.assumed,
        pace.heat,
        loop is not None,
        (loop[0], loop[1]) if loop is not None else (("", "", 0), ("", 0)),
        not pace.host,
    )
