"""XLA302: a device mask picks elements; how many depends on the data."""

from collections.abc import Iterator

from xlalint.api import Edit, Effect, Event, Facts, Finding, Rule, Safety, Severity, how_often

RULE = Rule(code="XLA302", name="boolean-index", family="dynamic-shape", severity=Severity.WARNING)


def check(facts: Facts) -> Iterator[Finding]:
    for pick in facts.hot(Effect.BOOLEAN_INDEX):
        yield Finding(
            rule=RULE,
            at=pick,
            message=f"`{pick.spelling}` reads `{pick.operand}`, and its length depends on data, {how_often(pick)}",
            help="keep the shape: `torch.where(mask, x, 0)`, or a product with the mask",
            fix=sum_by_where(pick),
        )


def sum_by_where(pick: Event) -> Edit | None:
    # Zeros don't change a sum. A mean, a maximum or the elements themselves they would change.
    if pick.form != "summed":
        return None
    return Edit("mask-sum-to-where", pick.span, "sum zeros where the mask is false", Safety.UNSAFE)
