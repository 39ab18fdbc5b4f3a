"""XLA109: a Python builtin compares device tensors in every step."""

from collections.abc import Iterator

from xlalint.api import Edit, Effect, Event, Facts, Finding, Rule, Safety, Severity, how_often

RULE = Rule(code="XLA109", name="builtin-over-tensors", family="host-transfer", severity=Severity.WARNING)

OF_TWO = {"max": "torch.maximum", "min": "torch.minimum"}


def check(facts: Facts) -> Iterator[Finding]:
    for call in facts.hot(Effect.BUILTIN_OVER_TENSORS):
        yield Finding(
            rule=RULE,
            at=call,
            message=f"`{call.spelling}` compares {what_is_compared(call)} in Python, one host read per comparison, "
            f"{how_often(call)}",
            help="use `torch.maximum`, `torch.minimum`, or `torch.stack(…)` with `.max()`, `.sort()` or `.any()`",
            fix=of_two(call),
        )


def what_is_compared(call: Event) -> str:
    return f"`{call.operand}`" if call.operand else "device tensors"


def of_two(call: Event) -> Edit | None:
    if call.form != "two-tensors" or call.subject not in OF_TWO:
        return None
    # Unsafe: where the shapes differ the tensors are broadcast, and a not-a-number wins.
    return Edit("replace-callee", call.span, "compare on the device", Safety.UNSAFE, (OF_TWO[call.subject],))
