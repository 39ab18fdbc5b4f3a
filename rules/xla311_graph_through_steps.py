"""XLA311: a loop-carried tensor keeps its autograd history, so backward runs through all earlier steps."""

from collections.abc import Iterator

from xlalint.api import Edit, Effect, Event, Facts, Finding, Mode, Rule, Safety, Severity, how_often

# In eager mode nothing is recompiled, but backward runs ever more ops; under dynamo it was not measured.
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
            message=f"`{carry.operand}` keeps its autograd history {how_often(carry)}: backward grows, and every step "
            "compiles",
            help="call `detach()` on it where it enters the next step",
            fix=cut_history(carry),
        )


def cut_history(carry: Event) -> Edit | None:
    # Only `state = new_state`: in `state = cell(x, state)` this step's own gradients would be cut too.
    if carry.form != "carried-name":
        return None
    return Edit("append-call", carry.span, f"detach {carry.operand} from its history", Safety.UNSAFE, ("detach",))
