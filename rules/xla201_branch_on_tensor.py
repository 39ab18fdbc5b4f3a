"""XLA201: a Python branch depends on the value of a device tensor in every step."""

from collections.abc import Iterator

from xlalint.api import Edit, Effect, Event, Facts, Finding, Neutral, Rule, Safety, Severity, how_often

RULE = Rule(
    code="XLA201",
    name="branch-on-tensor",
    family="control-flow",
    severity=Severity.WARNING,
    neutral=Neutral.REPLAY_TRUTH,
)


def check(facts: Facts) -> Iterator[Finding]:
    for test in facts.hot(Effect.BRANCH):
        where = f", where `{test.guards[-1]}` holds" if test.guards else ""
        yield Finding(
            rule=RULE,
            at=test,
            message=f"a branch on `{test.spelling}` makes the host wait for `{test.operand}` {how_often(test)}{where}",
            help="select on the device with `torch.where`, or test every few steps, after the step boundary",
            fix=choose_on_device(test),
        )


def choose_on_device(test: Event) -> Edit | None:
    # Only arms that assign one name and do nothing else: both are computed from then on.
    if test.form != "both-arms-assign":
        return None
    return Edit("branch-to-where", test.span, "select on the device with torch.where", Safety.UNSAFE)
