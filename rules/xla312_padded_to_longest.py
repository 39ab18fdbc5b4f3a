"""XLA312: batches are padded to their longest row, so the batch shape changes from step to step."""

from collections.abc import Iterator

from xlalint.api import FEW_SHAPES, Edit, Effect, Event, Facts, Finding, Heat, Mode, Neutral, Rule, Safety, Severity

RULE = Rule(
    code="XLA312",
    name="padded-to-longest",
    family="bucketing",
    severity=Severity.WARNING,
    modes=frozenset({Mode.LAZY, Mode.DYNAMO}),
    neutral=Neutral.REPLAY_BATCH,
)

PADS = (
    "pads to the longest row",
    'pad to a fixed length (`padding="max_length"`), or to a few lengths (`pad_to_multiple_of`)',
)
CUTS = (
    "is cut to the longest row",
    "cut to a fixed length, or round the longest row up to a multiple, so that a few lengths remain",
)
CUTS_SHORT = "is cut to the shortest row", "cut to a fixed length"
JOINS = (
    "has as many rows as the samples have together",
    "fill up with rows that the loss masks out, to a fixed number",
)
DOES = {"slice": CUTS, "slice to the shortest": CUTS_SHORT, "joined": JOINS, "picked": JOINS}


def check(facts: Facts) -> Iterator[Finding]:
    for padding in facts.events(Effect.PADDED_TO_LONGEST):
        # A collator is made once and pads in every step; a call that pads must itself be hot.
        if padding.form != "constructor" and padding.heat < Heat.STEP:
            continue
        # Padding to one of a few lengths is the remedy; to one of many, XLA316.
        if padding.form == "buckets":
            continue
        does, advice = DOES.get(padding.subject, PADS)
        most = padding.shapes
        bound = f", up to {most} of them" if most is not None else ""
        yield Finding(
            rule=RULE,
            at=padding,
            message=f"`{padding.spelling}` {does}: each new length compiles a new graph{bound}",
            help=advice,
            fix=pad_to_the_maximum(padding),
            # One graph for each length, each compiled once.
            severity=Severity.NOTE if most is not None and most <= FEW_SHAPES else None,
        )


def pad_to_the_maximum(padding: Event) -> Edit | None:
    # `pad_sequence` and the like have no maximum length.
    if padding.subject not in ("tokenizer", "collator"):
        return None
    # A collator pads by default.
    kind = "set-keyword" if "padding=" in padding.spelling else "add-keyword"
    return Edit(kind, padding.span, "pad to the maximum length", Safety.UNSAFE, ("padding", '"max_length"'))
