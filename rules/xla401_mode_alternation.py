"""XLA401: the model alternates between training and evaluation mode during training."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Heat, Mode, Neutral, Rule, Severity, how_often

RULE = Rule(
    code="XLA401",
    name="mode-alternation",
    family="mode",
    severity=Severity.WARNING,
    modes=frozenset({Mode.LAZY, Mode.DYNAMO}),
    neutral=Neutral.MODE_LEFT_OUT,
    whole_step=True,
)


def check(facts: Facts) -> Iterator[Finding]:
    for switch in facts.events(Effect.MODE_SWITCH):
        # Set once, before the loop, the mode is free; without a known step loop nothing is claimed.
        if switch.heat is Heat.ONCE or switch.assumed_hot:
            continue
        yield Finding(
            rule=RULE,
            at=switch,
            message=f"`{switch.spelling}` changes the mode {how_often(switch)}: each mode is one more graph, "
            "compiled once for each shape, and the first switch stalls the run",
            help="run one step in each mode, with each batch shape, before the loop that must not stall",
            # Around an evaluation it is what any training does: told once, for the stall that it brings.
            severity=Severity.NOTE if switch.heat < Heat.STEP else None,
        )
