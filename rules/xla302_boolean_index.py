"""XLA302: indexing with a boolean device mask, whose length depends on the data."""

from collections.abc import Iterator

from xlalint.api import Edit, Effect, Event, Facts, Finding, Rule, Safety, Severity, how_often

RULE = Rule(code="XLA302", name="boolean-index", family="dynamic-shape", severity=Severity.WARNING)
ON_DEVICE = "keep the shape: use `torch.where(mask, x, 0)` or a product with the mask"
FROM_HOST = "index with integers (`numpy.flatnonzero`), or with a tensor on the host: `torch.as_tensor(mask)`"


def check(facts: Facts) -> Iterator[Finding]:
    for pick in facts.hot(Effect.BOOLEAN_INDEX):
        yield Finding(
            rule=RULE,
            at=pick,
            message=f"`{pick.spelling}` {what_is_read(pick)}, {how_often(pick)}",
            help=FROM_HOST if pick.form == "mask-from-host" else ON_DEVICE,
            fix=sum_by_where(pick),
        )


def what_is_read(pick: Event) -> str:
    if pick.form == "mask-from-host":
        return f"uploads the host mask `{pick.operand}` and reads it back"
    return "reads its mask on the host, and its length depends on the data"


def sum_by_where(pick: Event) -> Edit | None:
    # Zeros leave a sum unchanged, but not a mean, a maximum or the elements.
    if pick.form != "summed":
        return None
    return Edit("mask-sum-to-where", pick.span, "sum zeros where the mask is false", Safety.UNSAFE)
