"""XLA209: a model of a library asks the host about its attention mask in every step."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Mode, Rule, Severity, how_often

RULE = Rule(
    code="XLA209",
    name="mask-asked",
    family="control-flow",
    severity=Severity.WARNING,
    modes=frozenset({Mode.LAZY, Mode.EAGER}),
)


def check(facts: Facts) -> Iterator[Finding]:
    for call in facts.hot(Effect.MASK_ASKED):
        yield Finding(
            rule=RULE,
            at=call,
            message=f"`{call.spelling}` {call.detail} {how_often(call)}",
            help=(
                'make the model with `attn_implementation="eager"`, which does not ask, or give no mask'
                if call.subject.startswith("transformers.")
                else "say so with `is_causal`, `src_is_causal` or `tgt_is_causal`: then nothing is asked"
            ),
        )
