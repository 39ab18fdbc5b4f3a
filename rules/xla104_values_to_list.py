"""XLA104: the values of a device tensor become a list or an array in every step."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Rule, Severity, how_often

RULE = Rule(code="XLA104", name="values-to-list", family="host-transfer", severity=Severity.WARNING)


def check(facts: Facts) -> Iterator[Finding]:
    for read in facts.hot(Effect.VALUES_TO_LIST):
        yield Finding(
            rule=RULE,
            at=read,
            message=f"`{read.spelling}` transfers all values of `{read.operand}` to the host {how_often(read)}",
            help="collect the tensors on the device and convert them once, after the loop",
        )
