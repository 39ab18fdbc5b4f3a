"""XLA507: a timer is read before the device has finished."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Mode, Neutral, Rule, Severity, how_often

RULE = Rule(
    code="XLA507",
    name="unsynced-timer",
    family="profiler",
    severity=Severity.NOTE,
    modes=frozenset({Mode.LAZY}),
    default=False,
    needs_xla=True,
    neutral=Neutral.NOTHING,
)


def check(facts: Facts) -> Iterator[Finding]:
    for timer in facts.hot(Effect.UNSYNCED_TIMER):
        yield Finding(
            rule=RULE,
            at=timer,
            message=f"`{timer.spelling}` is read {how_often(timer)} before the device has finished: it measures "
            "tracing, not execution",
            help="call `xm.wait_device_ops()` before each reading of the clock, or time many steps together",
        )
