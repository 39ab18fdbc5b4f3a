"""XLA307: `repeat_interleave` with repeats in a device tensor."""

from collections.abc import Iterator

from xlalint.api import Effect, Event, Facts, Finding, Rule, Severity, how_often

RULE = Rule(code="XLA307", name="repeat-interleave-tensor", family="dynamic-shape", severity=Severity.WARNING)


def check(facts: Facts) -> Iterator[Finding]:
    for call in facts.hot(Effect.REPEAT_INTERLEAVE):
        yield Finding(
            rule=RULE,
            at=call,
            message=f"`{call.spelling}` reads its repeats{named(call)} on the host to size its result, "
            f"{how_often(call)}",
            help="repeat by a Python integer, or index by a cumulative sum; `output_size=` only avoids recompilation",
        )


def named(call: Event) -> str:
    return f" `{call.operand}`" if call.operand else ""
