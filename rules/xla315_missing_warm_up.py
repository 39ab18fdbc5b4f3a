"""XLA315: a clock runs while each size is met, and compiled, for the first time."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Mode, Neutral, Rule, Severity

RULE = Rule(
    code="XLA315",
    name="missing-warm-up",
    family="bucketing",
    severity=Severity.NOTE,
    modes=frozenset({Mode.LAZY, Mode.DYNAMO}),
    default=False,
    needs_xla=True,
    neutral=Neutral.NOTHING,
)


def check(facts: Facts) -> Iterator[Finding]:
    for timer in facts.events(Effect.COLD_SIZES):
        yield Finding(
            rule=RULE,
            at=timer,
            message=f"`{timer.spelling}` tells the compiling, too: the loop over `{timer.operand}` meets "
            f"{timer.detail} sizes, and each is a graph that was not there before",
            help="run the step once with each size, and keep what it gives, before the clock is read first",
        )
