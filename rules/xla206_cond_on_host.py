"""XLA206: `torch.cond` selects its branch on the host in every step."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Mode, Rule, Severity, how_often

RULE = Rule(
    code="XLA206",
    name="cond-on-host",
    family="control-flow",
    severity=Severity.WARNING,
    modes=frozenset({Mode.LAZY, Mode.EAGER}),
)


def check(facts: Facts) -> Iterator[Finding]:
    for call in facts.hot(Effect.CONDITIONAL_CALL):
        yield Finding(
            rule=RULE,
            at=call,
            message=f"`{call.spelling}` reads `{call.operand}` on the host to select its branch {how_often(call)}",
            help="compute both branches and select with `torch.where`",
        )
