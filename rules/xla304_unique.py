"""XLA304: the distinct values of a device tensor, in every step."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Rule, Severity, how_often

RULE = Rule(code="XLA304", name="unique", family="dynamic-shape", severity=Severity.WARNING)


def check(facts: Facts) -> Iterator[Finding]:
    for call in facts.hot(Effect.UNIQUE):
        yield Finding(
            rule=RULE,
            at=call,
            message=f"`{call.spelling}` is done on the CPU and gives another length with other data, {how_often(call)}",
            help="do it on the host before the upload, or sort on the device and compare neighbours",
        )
