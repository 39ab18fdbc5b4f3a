"""XLA320: `nonzero_static` has a fixed shape, but runs on the host."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Rule, Severity, how_often

RULE = Rule(code="XLA320", name="static-nonzero", family="dynamic-shape", severity=Severity.WARNING)


def check(facts: Facts) -> Iterator[Finding]:
    for call in facts.hot(Effect.STATIC_NONZERO):
        yield Finding(
            rule=RULE,
            at=call,
            message=f"`{call.spelling}` has a fixed shape but no lowering: `{call.operand}` is read on the host and "
            f"the indices are uploaded {how_often(call)}",
            help="keep the mask, or take the first indices on the device with a stable `torch.argsort` of the mask",
        )
