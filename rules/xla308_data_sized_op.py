"""XLA308: an op whose result is as large as the data say."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Rule, Severity, how_often

RULE = Rule(code="XLA308", name="data-sized-op", family="dynamic-shape", severity=Severity.WARNING)


def check(facts: Facts) -> Iterator[Finding]:
    for call in facts.hot(Effect.DATA_SIZED):
        yield Finding(
            rule=RULE,
            at=call,
            message=f"`{call.spelling}` reads the host to learn how large its result is, {how_often(call)}",
            help="keep the tensor at its full size, with a mask beside it",
        )
