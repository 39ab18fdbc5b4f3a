"""XLA204: an assertion reads a device tensor in every step."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Neutral, Rule, Severity, how_often

RULE = Rule(
    code="XLA204",
    name="assert-on-tensor",
    family="control-flow",
    severity=Severity.WARNING,
    neutral=Neutral.FIRST_ONLY,
)


def check(facts: Facts) -> Iterator[Finding]:
    for claim in facts.hot(Effect.ASSERTION):
        yield Finding(
            rule=RULE,
            at=claim,
            message=f"the assertion on `{claim.operand}` makes the host wait for its value {how_often(claim)}",
            help="assert shapes and dtypes; collect the rest in a bool tensor and test it every few steps",
        )
