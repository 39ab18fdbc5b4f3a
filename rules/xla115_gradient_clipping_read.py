"""XLA115: gradient clipping reads the host in every step."""

from collections.abc import Iterator

from xlalint.api import Edit, Effect, Event, Facts, Finding, Neutral, Rule, Safety, Severity, how_often

RULE = Rule(
    code="XLA115",
    name="gradient-clipping-read",
    family="host-transfer",
    severity=Severity.WARNING,
    neutral=Neutral.REPLAY_UPDATE,
)


def check(facts: Facts) -> Iterator[Finding]:
    for call in facts.hot(Effect.GRADIENT_CLIPPING):
        yield Finding(
            rule=RULE,
            at=call,
            message=f"`{call.spelling}` {call.detail}, {how_often(call)}",
            help="clip by the 2-norm or with `clip_grad_value_`; test for infinite gradients every few steps",
            fix=ask_nothing(call),
        )


def ask_nothing(call: Event) -> Edit | None:
    # Another norm clips to other gradients: nothing to choose for the user.
    kind, *arguments = call.form.split(" ")
    if kind != "drop-keyword":
        return None
    return Edit(kind, call.span, f"drop {arguments[0]}", Safety.UNSAFE, tuple(arguments))
