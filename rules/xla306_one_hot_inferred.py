"""XLA306: `one_hot` infers the number of classes from the data in every step."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Rule, Severity, how_often

RULE = Rule(code="XLA306", name="one-hot-inferred", family="dynamic-shape", severity=Severity.WARNING)


def check(facts: Facts) -> Iterator[Finding]:
    for call in facts.hot(Effect.ONE_HOT):
        yield Finding(
            rule=RULE,
            at=call,
            message=f"`{call.spelling}` reads the maximum of `{call.operand}` on the host {how_often(call)}",
            help="pass `num_classes=`",
        )
