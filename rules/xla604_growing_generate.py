"""XLA604: `generate` of transformers grows its inputs by a token at a time."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Mode, Neutral, Rule, Severity

RULE = Rule(
    code="XLA604",
    name="growing-generate",
    family="lowering",
    severity=Severity.WARNING,
    modes=frozenset({Mode.LAZY}),
    needs_xla=True,
    neutral=Neutral.NOTHING,
)


def check(facts: Facts) -> Iterator[Finding]:
    for call in facts.events(Effect.GENERATE):
        yield Finding(
            rule=RULE,
            at=call,
            message=f"`{call.spelling}` grows ids, mask and cache by each token: each token is compiled, and reads the "
            "host",
            help="decode by a loop of your own, with a `StaticCache` and the position as a device tensor",
        )
