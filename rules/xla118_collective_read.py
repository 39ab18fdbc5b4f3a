"""XLA118: a collective operation goes through the host in every step."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Mode, Rule, Severity, how_often

RULE = Rule(
    code="XLA118",
    name="collective-read",
    family="host-transfer",
    severity=Severity.WARNING,
    modes=frozenset({Mode.LAZY, Mode.EAGER}),
)


def check(facts: Facts) -> Iterator[Finding]:
    for call in facts.hot(Effect.COLLECTIVE):
        # Callers of a function that synchronises processes mostly call it once.
        if call.assumed_hot:
            continue
        yield Finding(
            rule=RULE,
            at=call,
            message=f"`{call.spelling}` {call.detail}, {how_often(call)}",
            help="reduce on the device with `xm.all_reduce`; read the result every few steps",
        )
