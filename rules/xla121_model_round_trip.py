"""XLA121: a model is moved to the host in every step."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Mode, Neutral, Rule, Severity, how_often

RULE = Rule(
    code="XLA121",
    name="model-round-trip",
    family="host-transfer",
    severity=Severity.WARNING,
    modes=frozenset({Mode.LAZY, Mode.EAGER}),
    neutral=Neutral.FIRST_ONLY,
)


def check(facts: Facts) -> Iterator[Finding]:
    for move in facts.hot(Effect.MODEL_TO_HOST):
        # Who calls a function that parks a model decides how often.
        if move.assumed_hot:
            continue
        yield Finding(
            rule=RULE,
            at=move,
            message=f"`{move.spelling}` reads every parameter {how_often(move)}, and the way back uploads them again",
            help="leave the model on the device; copy what has to be on the host after the loop",
        )
