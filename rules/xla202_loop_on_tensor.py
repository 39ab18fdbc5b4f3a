"""XLA202: a loop asks a device tensor, turn after turn, whether to go on."""

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
            message=f"a loop that ends on `{test.spelling}` reads `{test.operand}` in each turn, {how_often(test)}",
            help="take a fixed number of turns, and hold with `torch.where` what needs no more of them",
        )
