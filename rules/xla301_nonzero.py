"""XLA301: `nonzero` of a device tensor, whose length depends on the data."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Rule, Severity, how_often

RULE = Rule(code="XLA301", name="nonzero", family="dynamic-shape", severity=Severity.WARNING)


def check(facts: Facts) -> Iterator[Finding]:
    for call in facts.hot(Effect.NONZERO):
        yield Finding(
            rule=RULE,
            at=call,
            message=f"`{call.spelling}` reads `{call.operand}`, and its length depends on the data, {how_often(call)}",
            help="keep the mask: `torch.where` with three arguments, or a product with the mask, has a fixed shape",
        )
