"""XLA117: a distribution validates its arguments on the host in every step."""

from collections.abc import Iterator

from xlalint.api import Edit, Effect, Event, Facts, Finding, Mode, Rule, Safety, Severity, how_often

RULE = Rule(
    code="XLA117",
    name="distribution-validation",
    family="host-transfer",
    severity=Severity.WARNING,
    modes=frozenset({Mode.LAZY, Mode.EAGER}),
)


def check(facts: Facts) -> Iterator[Finding]:
    for call in facts.hot(Effect.DISTRIBUTION_CHECK):
        yield Finding(
            rule=RULE,
            at=call,
            message=f"`{call.spelling}` {call.detail}, {how_often(call)}",
            help="pass `validate_args=False` where the arguments are known to be valid",
            fix=unchecked(call),
        )


def unchecked(call: Event) -> Edit | None:
    # A method's check is turned off where the distribution is made.
    kind, *arguments = call.form.split(" ")
    if kind != "add-keyword":
        return None
    return Edit(kind, call.span, "skip the validation", Safety.UNSAFE, tuple(arguments))
