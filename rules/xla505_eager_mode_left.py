"""XLA505: eager mode is left on in a program that compiles nothing."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Mode, Neutral, Rule, Severity

RULE = Rule(
    code="XLA505",
    name="eager-mode-left",
    family="debug",
    severity=Severity.WARNING,
    modes=frozenset({Mode.LAZY}),
    neutral=Neutral.NOTHING,
)


def check(facts: Facts) -> Iterator[Finding]:
    for switch in facts.events(Effect.EAGER_MODE):
        yield Finding(
            rule=RULE,
            at=switch,
            message=f"`{switch.spelling}` {switch.detail}",
            help="compile the step with `torch_xla.compile`, or leave eager mode off",
        )
