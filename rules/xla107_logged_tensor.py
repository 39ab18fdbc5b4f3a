"""XLA107: a device tensor goes to a logger, a progress bar or a writer in every step."""

from collections.abc import Iterator

from xlalint.api import Edit, Effect, Event, Facts, Finding, Neutral, Rule, Safety, Severity, how_often

RULE = Rule(
    code="XLA107",
    name="logged-tensor",
    family="host-transfer",
    severity=Severity.WARNING,
    neutral=Neutral.FIRST_ONLY,
)

LOGGED = "log", "log every few steps, after the step boundary; in `logger.debug` pass the tensor as a `%s` argument"
SAVED = "save", "save images every few steps, after the step boundary"


def check(facts: Facts) -> Iterator[Finding]:
    for call in facts.hot(Effect.LOGGED):
        purpose, advice = SAVED if call.subject == "save_image" else LOGGED
        yield Finding(
            rule=RULE,
            at=call,
            message=f"`{call.spelling}` reads {what_is_read(call)} on the host to {purpose} it, {how_often(call)}",
            help=advice,
            fix=format_when_shown(call),
        )


def what_is_read(call: Event) -> str:
    return f"`{call.operand}`" if call.operand else "a device tensor"


def format_when_shown(call: Event) -> Edit | None:
    # Arguments are formatted only where the level is on. In an info call it mostly is, so nothing would be won.
    if call.form != "debug-fstring":
        return None
    return Edit("lazy-logging", call.span, "let the logger format it", Safety.SAFE)
