"""XLA310: a Python number that changes from step to step becomes a graph constant."""

from collections.abc import Iterator

from xlalint.api import Edit, Effect, Event, Facts, Finding, Rule, Safety, Severity, how_often

RULE = Rule(code="XLA310", name="baked-number", family="dynamic-shape", severity=Severity.WARNING)


def check(facts: Facts) -> Iterator[Finding]:
    for use in facts.hot(Effect.BAKED_NUMBER):
        if use.subject == "mixer":
            yield mixing(use)
            continue
        few = use.detail == "few values"
        change = "it changes among a few values" if few else f"it changes {how_often(use)}"
        yield Finding(
            rule=RULE,
            at=use,
            message=f"the number in `{use.spelling}` becomes a graph constant: {change}, and each new value compiles "
            "a new graph",
            help="pass it as a device tensor, `torch.tensor(i, device=x.device)`, or keep it among a few values",
            fix=index_by_tensor(use),
            # One graph for each value, each compiled once.
            severity=Severity.NOTE if few else None,
        )


def mixing(use: Event) -> Finding:
    return Finding(
        rule=RULE,
        at=use,
        message=f"`{use.spelling}` cuts another box {how_often(use)}: its corners become graph constants, and each box "
        "compiles a new graph",
        help="mix on the host, before the batch is moved to the device, or turn CutMix off",
    )


def index_by_tensor(use: Event) -> Edit | None:
    # A slice or a size determines a shape: a tensor cannot replace it.
    if use.form != "scalar-index":
        return None
    return Edit("index-to-tensor", use.span, "index with a device tensor", Safety.UNSAFE)
