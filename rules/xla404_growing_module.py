"""XLA404: a layer or a hook is added to a model in every step."""

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
        what = "registers another hook" if growth.subject == "hook" else "adds a layer"
        yield Finding(
            rule=RULE,
            at=growth,
            message=f"`{growth.spelling}` {what} {how_often(growth)}: every step compiles a new graph",
            help="build the model before the loop; keep the handle of a hook and call `handle.remove()`",
        )
