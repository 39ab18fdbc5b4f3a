"""XLA305: `bincount` or a histogram of a device tensor in every step."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Rule, Severity, how_often

RULE = Rule(code="XLA305", name="bincount", family="dynamic-shape", severity=Severity.WARNING)


def check(facts: Facts) -> Iterator[Finding]:
    for count in facts.hot(Effect.BINCOUNT):
        yield Finding(
            rule=RULE,
            at=count,
            message=f"`{count.spelling}` reads `{count.operand}` and counts on the CPU {how_often(count)}",
            help="count with `scatter_add_` into zeros of a fixed size; `minlength=` only avoids recompilation",
        )
