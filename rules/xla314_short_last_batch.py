"""XLA314: the last batch of an epoch is shorter than the others."""

from collections.abc import Iterator

from xlalint.api import Edit, Effect, Event, Facts, Finding, Mode, Neutral, Rule, Safety, Severity

RULE = Rule(
    code="XLA314",
    name="short-last-batch",
    family="bucketing",
    severity=Severity.NOTE,
    modes=frozenset({Mode.LAZY, Mode.DYNAMO}),
    neutral=Neutral.REPLAY_BATCH,
)


def check(facts: Facts) -> Iterator[Finding]:
    for loader in facts.events(Effect.SHORT_LAST_BATCH):
        # An evaluation must not leave rows out.
        if loader.evaluation:
            continue
        yield Finding(
            rule=RULE,
            at=loader,
            message=f"`{loader.spelling}` yields a short last batch unless the rows divide evenly: "
            "one more graph, compiled once, at the end of the first epoch",
            help="pass `drop_last=True`; with `shuffle=True` no row is left out for good",
            fix=drop_the_last(loader),
        )


def drop_the_last(loader: Event) -> Edit:
    kind = "set-keyword" if "drop_last" in loader.spelling else "add-keyword"
    return Edit(kind, loader.span, "drop the short last batch", Safety.UNSAFE, ("drop_last", "True"))
