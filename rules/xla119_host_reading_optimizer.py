"""XLA119: an optimizer reads device tensors on the host in every step."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Neutral, Rule, Severity, how_often

RULE = Rule(
    code="XLA119",
    name="host-reading-optimizer",
    family="host-transfer",
    severity=Severity.WARNING,
    neutral=Neutral.REPLAY_UPDATE,
)


def check(facts: Facts) -> Iterator[Finding]:
    for update in facts.hot(Effect.OPTIMIZER_READ):
        yield Finding(
            rule=RULE,
            at=update,
            message=f"`{update.spelling}` of {optimizer(update.subject)} {update.detail}, {how_often(update)}",
            help="use an optimizer that stays on the device, such as `SGD` or `AdamW`",
        )


def optimizer(method: str) -> str:
    """The class of a dotted method name."""
    return f"`{method.split('.')[-2]}`"
