"""XLA315: a timed loop compiles the graph of each size within the measured time."""

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
            message=f"`{timer.spelling}` includes compile time: the loop over `{timer.operand}` has {timer.detail} "
            "sizes, and the first step of each compiles a graph",
            help="run the step once with each size, and keep its result, before the first reading of the clock",
        )
