"""XLA202: a loop condition reads a device tensor in each iteration."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Neutral, Rule, Severity, how_often

RULE = Rule(
    code="XLA202",
    name="loop-on-tensor",
    family="control-flow",
    severity=Severity.WARNING,
    neutral=Neutral.REPLAY_TRUTH,
)


def check(facts: Facts) -> Iterator[Finding]:
    for test in facts.hot(Effect.LOOP_TEST):
        yield Finding(
            rule=RULE,
            at=test,
            message=f"the loop condition `{test.spelling}` reads `{test.operand}` in each iteration, {how_often(test)}",
            help="run a fixed number of iterations; freeze finished rows with `torch.where`",
        )
