"""XLA316: batches are padded to one of many lengths."""

from collections.abc import Iterator

from xlalint.api import FEW_SHAPES, Effect, Facts, Finding, Mode, Neutral, Rule, Severity

RULE = Rule(
    code="XLA316",
    name="too-many-buckets",
    family="bucketing",
    severity=Severity.NOTE,
    modes=frozenset({Mode.LAZY, Mode.DYNAMO}),
    neutral=Neutral.REPLAY_BATCH,
)


def check(facts: Facts) -> Iterator[Finding]:
    for padding in facts.hot(Effect.PADDED_TO_LONGEST):
        # Lengths that are not rounded are XLA312; a few lengths are the remedy.
        if padding.form != "buckets" or padding.shapes is None or padding.shapes <= FEW_SHAPES:
            continue
        does = "is cut to" if padding.subject == "slice" else "pads to"
        yield Finding(
            rule=RULE,
            at=padding,
            message=f"`{padding.spelling}` {does} one of {padding.detail} lengths: {padding.shapes} graphs, "
            "each compiled once",
            help="round up to a larger multiple, or to powers of two: each length is a separate graph",
        )
