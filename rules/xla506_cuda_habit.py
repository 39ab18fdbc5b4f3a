"""XLA506: CUDA-only code raises on XLA, or runs on the host instead."""

from collections.abc import Iterator

from xlalint.api import Effect, Event, Facts, Finding, Neutral, Rule, Severity

RULE = Rule(
    code="XLA506",
    name="cuda-habit",
    family="lowering",
    severity=Severity.ERROR,
    needs_xla=True,
    neutral=Neutral.NOTHING,
)


def check(facts: Facts) -> Iterator[Finding]:
    for habit in facts.events(Effect.CUDA_HABIT):
        silent = habit.subject == "silent-host"
        what = habit.detail or ("is the CPU here" if silent else "raises without a GPU")
        yield Finding(
            rule=RULE,
            at=habit,
            message=f"`{habit.spelling}` {what}",
            help=what_to_write(habit),
            severity=Severity.WARNING if silent else None,
        )


def what_to_write(habit: Event) -> str:
    if habit.subject == "moves":
        moved = habit.operand if len(habit.operand) < LONG else "…"
        return f"write `{moved}.to(device)`, with `device = torch_xla.device()`"
    return "use `torch_xla.device()`" if habit.subject == "silent-host" else "remove it from the code that runs on XLA"


LONG = 60
"""An operand of so many characters is shortened, and can't be pasted."""
