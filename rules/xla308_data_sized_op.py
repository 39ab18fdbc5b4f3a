"""XLA308: an op whose output size depends on the data."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Rule, Severity, how_often

RULE = Rule(code="XLA308", name="data-sized-op", family="dynamic-shape", severity=Severity.WARNING)


def check(facts: Facts) -> Iterator[Finding]:
    for call in facts.hot(Effect.DATA_SIZED):
        yield Finding(
            rule=RULE,
            at=call,
            message=f"`{call.spelling}` reads device data to size its result, {how_often(call)}",
            help="keep the tensor at full size with a mask, and select with `torch.where`",
        )
