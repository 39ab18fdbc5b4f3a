"""XLA401: the model changes between training and evaluation mode while it trains."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Heat, Mode, Rule, Severity, how_often

RULE = Rule(
    code="XLA401",
    name="mode-alternation",
    family="mode",
    severity=Severity.WARNING,
    modes=frozenset({Mode.LAZY, Mode.DYNAMO}),
)


def check(facts: Facts) -> Iterator[Finding]:
    for switch in facts.events(Effect.MODE_SWITCH):
        # Set once, before the loop, it costs nothing; nor does it where no step is in sight.
        if switch.heat is Heat.ONCE or switch.assumed_hot:
            continue
        yield Finding(
            rule=RULE,
            at=switch,
            message=f"`{switch.spelling}` changes the mode {how_often(switch)}: each mode is one more graph, "
            "compiled once for each shape, and the first switch stops the run to compile it",
            help="run one step in each mode, with each batch shape, before the loop that must not stall",
            severity=Severity.NOTE if switch.heat is Heat.EPOCH else None,
        )
