"""XLA106: a device tensor is printed or put into a string in every step."""

from collections.abc import Iterator

from xlalint.api import Edit, Effect, Event, Facts, Finding, Neutral, Rule, Safety, Severity, how_often

RULE = Rule(
    code="XLA106",
    name="printed-tensor",
    family="host-transfer",
    severity=Severity.WARNING,
    neutral=Neutral.FIRST_ONLY,
)


def check(facts: Facts) -> Iterator[Finding]:
    for text in facts.hot(Effect.PRINTED):
        yield Finding(
            rule=RULE,
            at=text,
            message=f"`{text.spelling}` reads the values of {what_is_shown(text)} {how_often(text)}",
            help="print `.shape`, or print the values every few steps, after the step boundary",
            fix=print_shape(text),
        )


def what_is_shown(text: Event) -> str:
    return f"`{text.operand}`" if text.operand else "a device tensor"


def print_shape(text: Event) -> Edit | None:
    # A name is found again in the call; a longer expression may be shortened in the event.
    if not text.operand.isidentifier():
        return None
    return Edit("append-attribute", text.span, "print the shape", Safety.UNSAFE, ("shape", text.operand))
