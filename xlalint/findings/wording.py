"""Phrases that the messages of several rules share."""

from __future__ import annotations

from xlalint.facts.events import Event, Heat


def how_often(event: Event) -> str:
    """The frequency of ``event`` as the end of a sentence: "in every step of the loop over `loader`"."""
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
    if event.heat is Heat.CALL:
        return f"once in each call of `{event.assumed_of or event.scope}`"
    if event.assumed_of:
        return (
            f"in every step (assumed: it is reached from `{event.assumed_of}`, which has no caller in the linted files)"
        )
    if event.assumed_hot:
        return "in every step (assumed: this public function has no caller in the linted files)"
    return {
        Heat.INNER: "several times in every step",
        Heat.STEP: "in every step",
        Heat.AMORTISED: "in some steps",
        Heat.CALL: "once per call",
        Heat.EPOCH: "once per epoch",
        Heat.ONCE: "once",
    }[event.heat]
