"""XLA404: a model gets one more layer, or one more hook, in every step."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Mode, Neutral, Rule, Severity, how_often

RULE = Rule(
    code="XLA404",
    name="growing-module",
    family="mode",
    severity=Severity.WARNING,
    modes=frozenset({Mode.LAZY}),
    neutral=Neutral.FIRST_ONLY,
    whole_step=True,
)


def check(facts: Facts) -> Iterator[Finding]:
    for growth in facts.hot(Effect.GROWING_MODULE):
        what = "registers one more hook" if growth.subject == "hook" else "adds a layer"
        yield Finding(
            rule=RULE,
            at=growth,
            message=f"`{growth.spelling}` {what} {how_often(growth)}: each step is another graph, and is compiled",
            help="build the model before the loop; keep a hook's handle and remove it",
        )
