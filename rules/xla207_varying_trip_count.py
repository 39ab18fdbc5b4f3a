"""XLA207: a loop inside the step goes round another number of times in every step."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Mode, Rule, Severity, how_often

RULE = Rule(
    code="XLA207",
    name="varying-trip-count",
    family="control-flow",
    severity=Severity.WARNING,
    modes=frozenset({Mode.LAZY, Mode.DYNAMO}),
    whole_step=True,
)


def check(facts: Facts) -> Iterator[Finding]:
    for trips in facts.hot(Effect.VARYING_TRIPS):
        few = trips.detail == "few values"
        what = "by numbers that come again" if few else how_often(trips)
        yield Finding(
            rule=RULE,
            at=trips,
            message=f"the number of turns of `{trips.spelling}` changes {what}: each number is another graph",
            help="go round as often in each step, and mask what is too much by `torch.where`",
            # As many graphs as there are numbers, each compiled once.
            severity=Severity.NOTE if few else None,
        )
