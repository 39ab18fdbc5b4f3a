"""XLA409: the graph of a step depends on the rank."""

from collections.abc import Iterator

from xlalint.api import Effect, Event, Facts, Finding, Heat, Mode, Neutral, Place, Rule, Severity, how_often

RULE = Rule(
    code="XLA409",
    name="graph-by-rank",
    family="step",
    severity=Severity.WARNING,
    modes=frozenset({Mode.LAZY}),
    needs_xla=True,
    neutral=Neutral.NOTHING,
)

READS = (
    Effect.SCALAR_READ,
    Effect.COPY_TO_HOST,
    Effect.VALUES_TO_LIST,
    Effect.PRINTED,
    Effect.LOGGED,
)


def check(facts: Facts) -> Iterator[Finding]:
    for number in facts.hot(Effect.GRAPH_BY_RANK):
        # Who shares out a batch among the ranks mostly does it on the host, and once.
        if number.assumed_hot:
            continue
        yield Finding(
            rule=RULE,
            at=number,
            message=f"`{number.spelling}` makes the graph depend on the rank: each rank compiles another one, "
            f"{how_often(number)}",
            help="give every rank the same graph: pick its part on the host before the upload, or by an index tensor",
        )
    for read in facts.events(*READS):
        # A read in every step has a rule of its own.
        if is_on_some_ranks(read) and read.heat is Heat.AMORTISED:
            yield Finding(
                rule=RULE,
                at=read,
                severity=Severity.NOTE,
                message=f"`{read.spelling}` executes pending operations on some ranks only: their step becomes "
                "another graph than that of the others",
                help="read after the step boundary, or in `xm.add_step_closure`",
            )
    for boundary in facts.events(Effect.BOUNDARY):
        if is_on_some_ranks(boundary) and boundary.heat >= Heat.AMORTISED:
            yield Finding(
                rule=RULE,
                at=boundary,
                message=f"`{boundary.spelling}` ends the step on some ranks only: their graphs are others than "
                "those of the rest",
                help="call it on every rank",
            )


def is_on_some_ranks(event: Event) -> bool:
    return event.by_rank and event.place is Place.BEFORE_BOUNDARY
