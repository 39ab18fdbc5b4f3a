"""XLA108: device tensors are compared on the host in every step."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Rule, Severity, how_often

RULE = Rule(code="XLA108", name="compared-on-host", family="host-transfer", severity=Severity.WARNING)


def check(facts: Facts) -> Iterator[Finding]:
    for comparison in facts.hot(Effect.COMPARED_ON_HOST):
        yield Finding(
            rule=RULE,
            at=comparison,
            message=f"`{comparison.spelling}` compares `{comparison.operand}` on the host {how_often(comparison)}",
            help="compare on the device: `(a == b).all()`, `torch.isclose(a, b).all()`, `(stacked == t).any()`",
        )
