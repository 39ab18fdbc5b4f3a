"""XLA604: `generate` of transformers extends its inputs by one token at a time."""

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
            message=f"`{call.spelling}` extends ids, mask and KV cache by one per token: every token compiles a graph "
            "and reads the host",
            help="write a decoding loop with a `StaticCache` and the position in a device tensor",
        )
