"""XLA113: a metric reads the host when it is updated, or when its value is asked for, in every step."""

from collections.abc import Iterator

from xlalint.api import Effect, Event, Facts, Finding, Mode, Neutral, Rule, Severity, how_often

RULE = Rule(
    code="XLA113",
    name="metric-computed-in-step",
    family="host-transfer",
    severity=Severity.WARNING,
    modes=frozenset({Mode.LAZY, Mode.EAGER}),
    neutral=Neutral.FIRST_ONLY,
)


def check(facts: Facts) -> Iterator[Finding]:
    for call in facts.hot(Effect.METRIC_READ):
        yield Finding(
            rule=RULE,
            at=call,
            message=f"`{call.spelling}` {call.detail} {how_often(call)}",
            help=instead(call),
        )


def instead(call: Event) -> str:
    if call.subject.startswith("ignite."):
        return "sum on the device in the process function, and read when the epoch is over"
    if ".functional." in call.subject:
        return "collect what it needs on the device, and ask once, when the steps are over"
    if call.subject.endswith(".update"):
        return 'turn the check off (`nan_strategy="disable"`), or update seldom: each look is a read'
    return "call `.update()` in the step, and `.compute()` once, when the steps are over"
