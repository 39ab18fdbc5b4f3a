"""XLA402: a step loop has no step boundary, so its operations are recorded and never executed."""

from collections.abc import Iterator

from xlalint.api import Edit, Effect, Facts, Finding, Mode, Neutral, Rule, Safety, Severity

RULE = Rule(
    code="XLA402",
    name="no-step-boundary",
    family="step",
    severity=Severity.ERROR,
    # Eager mode executes each operation at once.
    modes=frozenset({Mode.LAZY}),
    needs_xla=True,
    neutral=Neutral.BOUNDARY,
)


def check(facts: Facts) -> Iterator[Finding]:
    for loop in facts.events(Effect.NO_BOUNDARY):
        name = loop.loop or "this loop"
        remark = f" ({loop.detail})" if loop.detail else ""
        yield Finding(
            rule=RULE,
            at=loop,
            message=f"no step boundary in {name}{remark}: the graph grows with every step, and the first host read "
            "compiles and executes all of it",
            help="end each step with `torch_xla.sync()`, iterate over an `MpDeviceLoader`, or step the optimizer with "
            "`xm.optimizer_step(optimizer, barrier=True)`",
            fix=Edit(
                "append-statement",
                loop.span,
                "end each step with torch_xla.sync()",
                Safety.UNSAFE,
                ("torch_xla.sync()", "import torch_xla"),
            ),
        )
