"""XLA407: an evaluation loop keeps outputs together with their autograd graphs."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Mode, Neutral, Rule, Severity, how_often

RULE = Rule(
    code="XLA407",
    name="missing-no-grad",
    family="mode",
    severity=Severity.NOTE,
    modes=frozenset({Mode.LAZY, Mode.EAGER}),
    default=False,
    neutral=Neutral.WITHOUT_GRAPH,
)


def check(facts: Facts) -> Iterator[Finding]:
    for kept in facts.hot(Effect.KEPT_OUTPUT):
        yield Finding(
            rule=RULE,
            at=kept,
            message=f"`{kept.spelling}` is kept {how_often(kept)}, with all activations that its backward would need",
            help="evaluate under `torch.no_grad()`, or keep the result of `.detach()`",
        )
