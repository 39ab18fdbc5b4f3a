"""XLA405: an API that raises on XLA, or that torch_xla no longer has."""

from collections.abc import Iterator

from xlalint.api import Edit, Effect, Event, Facts, Finding, Neutral, Rule, Safety, Severity

RULE = Rule(
    code="XLA405",
    name="unsupported-on-xla",
    family="lowering",
    severity=Severity.ERROR,
    needs_xla=True,
    neutral=Neutral.NOTHING,
)

TITLES = {
    "replace-callee": "use {0}",
    "drop-keyword": "drop {0}",
    "add-keyword": "pass {0}={1}",
    "set-keyword": "pass {0}={1}",
    "set-argument": "pass {2}",
}


def check(facts: Facts) -> Iterator[Finding]:
    for call in facts.events(Effect.UNSUPPORTED):
        raises = call.detail.startswith("raises ")
        fix = xla_spelling(call)
        yield Finding(
            rule=RULE,
            at=call,
            message=f"`{call.spelling}`: on XLA `{call.subject}` {call.detail}",
            help=what_to_write(call, fix),
            fix=fix,
            # A call that is ignored silently is no error.
            severity=None if raises else Severity.WARNING,
        )


def what_to_write(call: Event, fix: Edit | None) -> str:
    if fix is None:
        # What the user has to write anew, for its arguments are others.
        verb, _, text = call.form.partition(" ")
        return f"write `{text}`" if verb == "write" else "remove it from the code that runs on XLA"
    if fix.kind == "set-argument" and call.subject.endswith("autocast"):
        return 'write `torch.autocast("xla", dtype=torch.bfloat16)`'
    return f"{fix.title} instead" if fix.kind == "replace-callee" else fix.title


def xla_spelling(call: Event) -> Edit | None:
    kind, *arguments = call.form.split(" ")
    if kind not in TITLES:
        return None
    return Edit(kind, call.span, TITLES[kind].format(*arguments), Safety.SAFE, tuple(arguments))
