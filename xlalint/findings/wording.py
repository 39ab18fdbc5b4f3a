"""Words that many messages share."""

from __future__ import annotations

from xlalint.facts.events import Event, Heat


def how_often(event: Event) -> str:
    """How often the place of ``event`` runs, for the end of a sentence: "in every step of the loop over `loader`"."""
    if not event.loop:
        return _without_a_loop(event)
    if event.heat is Heat.INNER:
        return f"several times in every step of {event.loop}"
    if event.heat is Heat.STEP:
        return f"in every step of {event.loop}"
    if event.heat is Heat.AMORTISED:
        return f"in some steps of {event.loop}"
    return f"in {event.loop}"


def _without_a_loop(event: Event) -> str:
    if event.assumed_of:
        return f"in each step, as is assumed of `{event.assumed_of}`, which leads here and which nothing here calls"
    if event.assumed_hot:
        return "in each step, as is assumed of a public function that nothing here calls"
    return {
        Heat.INNER: "several times a step",
        Heat.STEP: "in each step",
        Heat.AMORTISED: "in some steps",
        Heat.EPOCH: "once an epoch",
        Heat.ONCE: "once",
    }[event.heat]
