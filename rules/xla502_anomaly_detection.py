"""XLA502: anomaly detection checks for NaN on the host after each node of the backward pass."""

from collections.abc import Iterator

from xlalint.api import Edit, Effect, Event, Facts, Finding, Mode, Neutral, Rule, Safety, Severity

RULE = Rule(
    code="XLA502",
    name="anomaly-detection",
    family="debug",
    severity=Severity.WARNING,
    modes=frozenset({Mode.LAZY, Mode.EAGER}),
    neutral=Neutral.NOTHING,
)


def check(facts: Facts) -> Iterator[Finding]:
    for switch in facts.events(Effect.ANOMALY_DETECTION):
        yield Finding(
            rule=RULE,
            at=switch,
            message=f"`{switch.spelling}`: {switch.detail}",
            help="remove it after debugging, or pass `check_nan=False`, which keeps the traces and reads nothing",
            fix=trace_only(switch),
        )


def trace_only(switch: Event) -> Edit | None:
    kind, *arguments = switch.form.split(" ")
    return Edit(kind, switch.span, "check no values", Safety.UNSAFE, tuple(arguments))
