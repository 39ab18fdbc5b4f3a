"""XLA113: a metric is updated or computed with a host read in every step."""

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
            message=f"`{call.spelling}` {call.detail}, {how_often(call)}",
            help=instead(call),
        )


def instead(call: Event) -> str:
    if call.subject.startswith("ignite."):
        return "accumulate on the device in the process function; read the sum at the end of the epoch"
    if ".functional." in call.subject:
        return "collect its inputs on the device and compute it once, after the loop"
    if call.subject.endswith(".update"):
        return 'disable the check with `nan_strategy="disable"`, or update every few steps: each check is a host read'
    return "call `.update()` in the step and `.compute()` once, after the loop"
