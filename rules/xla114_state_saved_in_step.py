"""XLA114: a state of device tensors is saved by `torch.save` in every step."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Mode, Neutral, Rule, Severity, how_often

RULE = Rule(
    code="XLA114",
    name="state-saved-in-step",
    family="host-transfer",
    severity=Severity.WARNING,
    modes=frozenset({Mode.LAZY, Mode.EAGER}),
    neutral=Neutral.FIRST_ONLY,
)


def check(facts: Facts) -> Iterator[Finding]:
    for save in facts.hot(Effect.STATE_SAVED):
        # Callers of a function that saves rarely call it in every step.
        if save.assumed_hot:
            continue
        yield Finding(
            rule=RULE,
            at=save,
            message=f"`{save.spelling}` {save.detail}, {how_often(save)}",
            help="save every few hundred steps, after the boundary, with `xm.save`: it transfers all tensors at once",
        )
