"""XLA208: a random number on the host decides which layers a step runs."""

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
            message=f"`{coin.spelling}` selects layers at random {how_often(coin)}: each new combination of them "
            "compiles a new graph",
            help="sample on the device, always compute the layer, and select its output with `torch.where`",
        )
