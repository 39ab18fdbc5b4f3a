"""XLA311: a tensor carried from step to step keeps its history, and backward runs through all of it."""

from collections.abc import Iterator

from xlalint.api import Edit, Effect, Event, Facts, Finding, Mode, Rule, Safety, Severity, how_often

# In eager mode nothing is compiled anew, the ops of backward grow in number; under dynamo it was not measured.
RULE = Rule(
    code="XLA311",
    name="graph-through-steps",
    family="dynamic-shape",
    severity=Severity.WARNING,
    modes=frozenset({Mode.LAZY}),
)


def check(facts: Facts) -> Iterator[Finding]:
    for carry in facts.hot(Effect.GRAPH_THROUGH_STEPS):
        yield Finding(
            rule=RULE,
            at=carry,
            message=f"`{carry.operand}` keeps its history {how_often(carry)}, and backward grows with it",
            help="`detach()` it where it goes into the next step",
            fix=cut_history(carry),
        )


def cut_history(carry: Event) -> Edit | None:
    # Only `state = new_state`: in `state = cell(x, state)` this step's own gradients would be cut too.
    if carry.form != "carried-name":
        return None
    return Edit("append-call", carry.span, f"cut the history of {carry.operand}", Safety.UNSAFE, ("detach",))
