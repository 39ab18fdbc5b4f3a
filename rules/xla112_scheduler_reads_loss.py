"""XLA112: a learning-rate scheduler compares a device tensor on the host in every step."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Place, Rule, Severity, how_often

RULE = Rule(code="XLA112", name="scheduler-reads-loss", family="host-transfer", severity=Severity.WARNING)


def check(facts: Facts) -> Iterator[Finding]:
    for call in facts.hot(Effect.SCHEDULER_READ):
        yield Finding(
            rule=RULE,
            at=call,
            message=f"`{call.spelling}` reads `{call.operand}`: the scheduler {call.detail}, {how_often(call)}",
            help="pass a mean that is read once per epoch, or use a scheduler that counts steps, such as `StepLR`",
            # Nothing is pending after the boundary: no graph is cut, and what remains is a transfer.
            severity=Severity.NOTE if call.place is Place.AFTER_BOUNDARY else None,
        )
