"""XLA508: the garbage collector is run in every step."""

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
        # A helper that clears memory is called where its callers think fit.
        if call.assumed_hot or call.why:
            continue
        yield Finding(
            rule=RULE,
            at=call,
            message=f"`{call.spelling}` walks all objects of the process {how_often(call)}",
            help="leave it out, or call it seldom: device memory is freed as soon as nothing refers to a tensor",
        )
