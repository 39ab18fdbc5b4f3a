"""XLA501: a breakpoint was left in the code."""

from collections.abc import Iterator

from xlalint.api import Edit, Effect, Facts, Finding, Mode, Neutral, Rule, Safety, Severity

RULE = Rule(
    code="XLA501",
    name="breakpoint-left",
    family="debug",
    severity=Severity.WARNING,
    modes=frozenset({Mode.LAZY, Mode.EAGER}),
    neutral=Neutral.NOTHING,
)


def check(facts: Facts) -> Iterator[Finding]:
    for stop in facts.events(Effect.BREAKPOINT):
        yield Finding(
            rule=RULE,
            at=stop,
            message=f"`{stop.spelling}` stops the program: without a terminal it raises, and each tensor printed there "
            "is a host read and an execution",
            help="remove it",
            fix=Edit("remove-statement", stop.span, "remove the breakpoint", Safety.SAFE),
        )
