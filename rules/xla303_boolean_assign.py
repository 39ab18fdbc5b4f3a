"""XLA303: assignment through a boolean device mask."""

from collections.abc import Iterator

from xlalint.api import Edit, Effect, Event, Facts, Finding, Rule, Safety, Severity, how_often

RULE = Rule(code="XLA303", name="boolean-assign", family="dynamic-shape", severity=Severity.WARNING)
SAFETY = {
    "scalar-value-same-shape": Safety.SAFE,
    # A mask of fewer dimensions goes with the first ones as an index, with the last ones in masked_fill_.
    "scalar-value": Safety.UNSAFE,
}
ON_DEVICE = "write with `masked_fill_`, `masked_scatter_` or `torch.where`, which stay on the device"
FROM_HOST = "index with integers (`numpy.flatnonzero`), or with a tensor on the host: `torch.as_tensor(mask)`"


def check(facts: Facts) -> Iterator[Finding]:
    for write in facts.hot(Effect.BOOLEAN_ASSIGN):
        yield Finding(
            rule=RULE,
            at=write,
            message=f"the assignment through the mask `{write.operand}` {what_is_read(write)} {how_often(write)}",
            help=FROM_HOST if write.form == "mask-from-host" else ON_DEVICE,
            fix=fill_by_mask(write),
        )


def what_is_read(write: Event) -> str:
    return "uploads it and reads it back" if write.form == "mask-from-host" else "reads it on the host"


def fill_by_mask(write: Event) -> Edit | None:
    if write.form not in SAFETY:
        return None
    return Edit("mask-assign-to-fill", write.span, "write with masked_fill_", SAFETY[write.form])
