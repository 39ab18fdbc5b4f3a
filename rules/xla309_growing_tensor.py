"""XLA309: a loop-carried tensor grows in every step."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Rule, Severity, how_often

RULE = Rule(code="XLA309", name="growing-tensor", family="dynamic-shape", severity=Severity.WARNING)


def check(facts: Facts) -> Iterator[Finding]:
    for growth in facts.hot(Effect.GROWING):
        yield Finding(
            rule=RULE,
            at=growth,
            message=f"`{growth.operand}` grows {how_often(growth)}: each new length recompiles the whole step",
            help="allocate the maximum size, and write with `index_copy_` at a position held in a device tensor",
        )
