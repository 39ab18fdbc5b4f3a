"""XLA209: a library model tests its attention mask on the host in every step."""

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
            message=f"`{call.spelling}` {call.detail}, {how_often(call)}",
            help=(
                'load the model with `attn_implementation="eager"`, which does not read the mask, or pass no mask'
                if call.subject.startswith("transformers.")
                else "pass `is_causal`, `src_is_causal` or `tgt_is_causal`: the mask is not read then"
            ),
        )
