"""XLA105: numpy or the statistics module receives a device tensor and raises."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Mode, Neutral, Rule, Severity

RULE = Rule(
    code="XLA105",
    name="numpy-of-device-tensor",
    family="host-transfer",
    severity=Severity.ERROR,
    # Under torch.compile numpy is traced, and does not raise.
    modes=frozenset({Mode.LAZY, Mode.EAGER}),
    neutral=Neutral.NOTHING,
)


def check(facts: Facts) -> Iterator[Finding]:
    # It raises at any heat.
    for call in facts.events(Effect.NUMPY_OF_DEVICE):
        yield Finding(
            rule=RULE,
            at=call,
            message=f"`{call.spelling}` raises TypeError: `{call.operand}` lives on an XLA device",
            help="use the torch function of the same name, or copy with `.cpu()` first, outside the step",
        )
