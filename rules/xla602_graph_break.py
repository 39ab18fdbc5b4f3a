"""XLA602: a call breaks the graph of `torch.compile(backend="openxla")`."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Mode, Neutral, Rule, Severity, how_often

RULE = Rule(
    code="XLA602",
    name="graph-break",
    family="lowering",
    severity=Severity.WARNING,
    # A program that calls `torch.compile` itself does so in every mode.
    modes=frozenset({Mode.LAZY, Mode.DYNAMO}),
    neutral=Neutral.LEFT_OUT,
    whole_step=True,
)


def check(facts: Facts) -> Iterator[Finding]:
    for call in facts.hot(Effect.GRAPH_BREAK):
        yield Finding(
            rule=RULE,
            at=call,
            message=f"`{call.spelling}` breaks the compiled graph in two {how_often(call)}",
            help="call it outside the compiled function, or pass its value in as a tensor",
        )
