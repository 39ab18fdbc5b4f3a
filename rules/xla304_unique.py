"""XLA304: `unique` of a device tensor in every step."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Rule, Severity, how_often

RULE = Rule(code="XLA304", name="unique", family="dynamic-shape", severity=Severity.WARNING)


def check(facts: Facts) -> Iterator[Finding]:
    for call in facts.hot(Effect.UNIQUE):
        yield Finding(
            rule=RULE,
            at=call,
            message=f"`{call.spelling}` runs on the CPU, and its length depends on the data, {how_often(call)}",
            help="compute it on the host before the upload, or use `torch.sort` and compare neighbours",
        )
