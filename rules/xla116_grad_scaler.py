"""XLA116: a gradient scaler reads the host in every step; bfloat16 needs none."""

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
            message=f"`{update.spelling}` {update.detail}, {how_often(update)}",
            help='remove the scaler: under `torch.autocast("xla")` bfloat16 needs no loss scaling',
        )
