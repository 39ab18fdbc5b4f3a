"""XLA603: dynamo compiles only a part of the training step."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Mode, Neutral, Rule, Severity

RULE = Rule(
    code="XLA603",
    name="optimizer-outside-graph",
    family="lowering",
    severity=Severity.NOTE,
    modes=frozenset({Mode.LAZY, Mode.DYNAMO}),
    default=False,
    needs_xla=True,
    whole_step=True,
    neutral=Neutral.ARGUMENT,
)


def check(facts: Facts) -> Iterator[Finding]:
    for part in facts.events(Effect.COMPILED_PART):
        yield Finding(
            rule=RULE,
            at=part,
            message=f"`{part.spelling}` compiles forward, backward and optimizer update as separate graphs: each step "
            "takes several executions",
            help="train without it, or compile the whole step with `torch_xla.compile(step)`: one execution",
        )
