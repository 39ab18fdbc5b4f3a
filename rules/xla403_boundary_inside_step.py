"""XLA403: a step boundary inside the step splits its graph."""

from collections.abc import Iterator

from xlalint.api import Edit, Effect, Event, Facts, Finding, Mode, Rule, Safety, Severity, how_often

RULE = Rule(
    code="XLA403",
    name="boundary-inside-step",
    family="step",
    severity=Severity.WARNING,
    modes=frozenset({Mode.LAZY, Mode.DYNAMO}),
)

# A boundary in each micro-batch is missing here: it is a fair trade of time for memory.
WHERE = {
    "after-forward": "between the forward pass and the rest of the step",
    "after-backward": "between the backward pass and the optimizer step",
    "per-layer": "inside the model",
    "nested": "inside another boundary",
    "in-compiled": "inside a compiled function",
    "varying-period": "after a varying number of steps",
}


def check(facts: Facts) -> Iterator[Finding]:
    for boundary in facts.hot(Effect.BOUNDARY):
        where = WHERE.get(boundary.subject)
        if where is None:
            continue
        cost = "compiles a graph for each number" if boundary.subject == "varying-period" else "adds an execution"
        yield Finding(
            rule=RULE,
            at=boundary,
            message=f"`{boundary.spelling}` stands {where} and {cost}, {how_often(boundary)}",
            help="set one boundary per step, at its end",
            fix=without_it(boundary),
            # Who says why it stands there knows of it.
            severity=Severity.NOTE if boundary.explained else None,
        )


def without_it(boundary: Event) -> Edit | None:
    # A `with` has a body to keep, and the only boundary of a loop must stay.
    if boundary.subject in ("nested", "varying-period"):
        return None
    return Edit("remove-statement", boundary.span, "remove the inner boundary", Safety.UNSAFE)
