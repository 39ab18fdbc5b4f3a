"""XLA208: a coin of the host decides which layers a step has."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Mode, Neutral, Rule, Severity, how_often

RULE = Rule(
    code="XLA208",
    name="random-structure",
    family="control-flow",
    severity=Severity.NOTE,
    modes=frozenset({Mode.LAZY, Mode.DYNAMO}),
    default=False,
    neutral=Neutral.REPLAY_TRUTH,
    whole_step=True,
)


def check(facts: Facts) -> Iterator[Finding]:
    for coin in facts.hot(Effect.RANDOM_STRUCTURE):
        yield Finding(
            rule=RULE,
            at=coin,
            message=f"`{coin.spelling}` decides at random {how_often(coin)} what the graph consists of: each "
            "outcome that is new is compiled",
            help="draw the coin on the device, compute the layer in any case, and choose by `torch.where`",
        )
