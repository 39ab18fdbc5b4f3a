"""XLA131: a function of an installed package reads the host in every step that calls it."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Rule, Severity, how_often

RULE = Rule(
    code="XLA131",
    name="costly-library-call",
    family="host-transfer",
    severity=Severity.WARNING,
)


def check(facts: Facts) -> Iterator[Finding]:
    for call in facts.hot(Effect.COST_IN_LIBRARY):
        what, _, place = call.detail.partition(": ")
        yield Finding(
            rule=RULE,
            at=call,
            message=f"`{call.spelling}` {what} {how_often(call)}, at {place}",
            help="call it every few steps, after the step boundary, or reimplement what you need without the host read",
            package=place.partition("/")[0].partition(".")[0],
        )
