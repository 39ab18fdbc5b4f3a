"""XLA508: the garbage collector runs in every step."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Neutral, Rule, Severity, how_often

RULE = Rule(
    code="XLA508",
    name="garbage-collection-in-step",
    family="debug",
    severity=Severity.NOTE,
    default=False,
    neutral=Neutral.LEFT_OUT,
)


def check(facts: Facts) -> Iterator[Finding]:
    for call in facts.hot(Effect.GARBAGE_COLLECTION):
        # Callers of a function that frees memory decide how often.
        if call.assumed_hot or call.why:
            continue
        yield Finding(
            rule=RULE,
            at=call,
            message=f"`{call.spelling}` traverses all objects of the process {how_often(call)}",
            help="remove it, or call it every few hundred steps: a tensor is freed with its last reference",
        )
