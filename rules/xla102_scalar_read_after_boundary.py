"""XLA102: the host reads a device scalar in every step, after the boundary."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Place, Rule, Severity, how_often

RULE = Rule(code="XLA102", name="scalar-read-after-boundary", family="host-transfer", severity=Severity.NOTE)


def check(facts: Facts) -> Iterator[Finding]:
    for read in facts.hot(Effect.SCALAR_READ):
        # Before the boundary, or where none is in sight, the graph is cut too: that is XLA101.
        if read.place is not Place.AFTER_BOUNDARY:
            continue
        yield Finding(
            rule=RULE,
            at=read,
            message=f"`{read.spelling}` transfers `{read.operand}` to the host {how_often(read)}",
            help="read it every few steps, or accumulate on the device and read once after the loop",
        )
