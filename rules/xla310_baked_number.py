"""XLA310: a Python number that changes from step to step is a constant of the graph."""

from collections.abc import Iterator

from xlalint.api import Edit, Effect, Event, Facts, Finding, Rule, Safety, Severity, how_often

RULE = Rule(code="XLA310", name="baked-number", family="dynamic-shape", severity=Severity.WARNING)


def check(facts: Facts) -> Iterator[Finding]:
    for use in facts.hot(Effect.BAKED_NUMBER):
        few = use.detail == "few values"
        what = "it is another in each step, the same ones each time around" if few else f"it changes {how_often(use)}"
        yield Finding(
            rule=RULE,
            at=use,
            message=f"the number in `{use.spelling}` is compiled in, and {what}",
            help="hand it over as a device tensor, or keep it among a few values",
            fix=index_by_tensor(use),
            # As many graphs as there are numbers, each compiled once.
            severity=Severity.NOTE if few else None,
        )


def index_by_tensor(use: Event) -> Edit | None:
    # A slice or a size makes a shape: no tensor can stand for it.
    if use.form != "scalar-index":
        return None
    return Edit("index-to-tensor", use.span, "index by a device tensor", Safety.UNSAFE)
