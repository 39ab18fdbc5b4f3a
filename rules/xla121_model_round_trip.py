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
        # Callers of a function that offloads a model decide how often.
        if move.assumed_hot:
            continue
        yield Finding(
            rule=RULE,
            at=move,
            message=f"`{move.spelling}` transfers every parameter to the host {how_often(move)}, and the move "
            "back uploads them",
            help="keep the model on the device; copy its state to the host after the loop",
        )
