"""XLA509: an environment variable reduces the precision of float32 silently."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Neutral, Rule, Severity

RULE = Rule(
    code="XLA509",
    name="low-precision-environment",
    family="debug",
    severity=Severity.WARNING,
    neutral=Neutral.NOTHING,
)


def check(facts: Facts) -> Iterator[Finding]:
    for setting in facts.events(Effect.LOW_PRECISION):
        yield Finding(
            rule=RULE,
            at=setting,
            message=f"`{setting.subject}` {setting.detail}, though their dtype still says float32",
            help="choose the dtype explicitly, with `model.to(torch.bfloat16)` or `torch.autocast`",
        )
