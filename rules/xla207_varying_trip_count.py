"""XLA207: the trip count of a loop inside the step changes from step to step."""

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
        what = "among a few values" if few else how_often(trips)
        yield Finding(
            rule=RULE,
            at=trips,
            message=f"the trip count of `{trips.spelling}` changes {what}: each new count compiles a new graph",
            help="use a fixed trip count and mask surplus iterations with `torch.where`",
            # One graph for each trip count, each compiled once.
            severity=Severity.NOTE if few else None,
        )
