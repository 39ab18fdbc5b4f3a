"""XLA309: a tensor that a loop carries is longer in each step."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Rule, Severity, how_often

RULE = Rule(code="XLA309", name="growing-tensor", family="dynamic-shape", severity=Severity.WARNING)


def check(facts: Facts) -> Iterator[Finding]:
    for growth in facts.hot(Effect.GROWING):
        yield Finding(
            rule=RULE,
            at=growth,
            message=f"`{growth.operand}` grows {how_often(growth)}: each new length compiles the whole step again",
            help="make it as large as it gets, and write with `index_copy_` at a position that is a device tensor",
        )
