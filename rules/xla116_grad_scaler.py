"""XLA116: a gradient scaler, which reads the host in every step and which bfloat16 doesn't need."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Neutral, Rule, Severity, how_often

RULE = Rule(
    code="XLA116",
    name="grad-scaler",
    family="host-transfer",
    severity=Severity.WARNING,
    needs_xla=True,
    neutral=Neutral.REPLAY_UPDATE,
)


def check(facts: Facts) -> Iterator[Finding]:
    for update in facts.hot(Effect.GRAD_SCALER):
        yield Finding(
            rule=RULE,
            at=update,
            message=f"`{update.spelling}` {update.detail} {how_often(update)}",
            help='bfloat16 needs no scaling: use `torch.autocast("xla")` and step the optimizer itself',
        )
