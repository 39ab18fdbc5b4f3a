"""XLA406: a loop transfers its batches to the device itself, one after the other."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Mode, Neutral, Rule, Severity

RULE = Rule(
    code="XLA406",
    name="missing-device-loader",
    family="step",
    severity=Severity.NOTE,
    modes=frozenset({Mode.LAZY}),
    default=False,
    needs_xla=True,
    whole_step=True,
    neutral=Neutral.LOADED_AHEAD,
)


def check(facts: Facts) -> Iterator[Finding]:
    for loop in facts.events(Effect.PLAIN_LOADER):
        name = loop.loop or "this loop"
        yield Finding(
            rule=RULE,
            at=loop,
            message=f"{name} transfers each batch itself: no step overlaps with the next batch's transfer",
            help="iterate over `MpDeviceLoader(loader, device)`: it prefetches in a thread and sets the step boundary",
        )
