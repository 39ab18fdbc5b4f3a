"""XLA205: a Python condition filters elements of device tensors one by one."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Neutral, Rule, Severity, how_often

RULE = Rule(
    code="XLA205",
    name="filter-on-tensor",
    family="control-flow",
    severity=Severity.WARNING,
    neutral=Neutral.REPLAY_TRUTH,
)


def check(facts: Facts) -> Iterator[Finding]:
    for test in facts.hot(Effect.FILTER):
        yield Finding(
            rule=RULE,
            at=test,
            message=f"the filter `{test.spelling}` reads `{test.operand}` for each element, {how_often(test)}",
            help="keep all elements, and select with a mask and `torch.where`",
        )
