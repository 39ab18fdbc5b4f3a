"""XLA320: a list of fixed length of where a device tensor is true is made on the host all the same."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Rule, Severity, how_often

RULE = Rule(code="XLA320", name="static-nonzero", family="dynamic-shape", severity=Severity.WARNING)


def check(facts: Facts) -> Iterator[Finding]:
    for call in facts.hot(Effect.STATIC_NONZERO):
        yield Finding(
            rule=RULE,
            at=call,
            message=f"`{call.spelling}` has a fixed shape but no lowering: `{call.operand}` goes to the host and the "
            f"places come back {how_often(call)}",
            help="keep the mask, or take the first places on the device, by a stable sort of the mask",
        )
