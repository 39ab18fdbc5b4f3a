"""XLA602: a call that no graph can hold stands in what `torch.compile(backend="openxla")` compiles."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Mode, Neutral, Rule, Severity, how_often

RULE = Rule(
    code="XLA602",
    name="graph-break",
    family="lowering",
    severity=Severity.WARNING,
    # A program that compiles its step itself does so whatever the mode.
    modes=frozenset({Mode.LAZY, Mode.DYNAMO}),
    neutral=Neutral.LEFT_OUT,
    whole_step=True,
)


def check(facts: Facts) -> Iterator[Finding]:
    for call in facts.hot(Effect.GRAPH_BREAK):
        yield Finding(
            rule=RULE,
            at=call,
            message=f"`{call.spelling}` cuts the compiled graph in two {how_often(call)}",
            help="call it outside of what is compiled, or hand its value over as a tensor",
        )
