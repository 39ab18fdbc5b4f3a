"""XLA408: a collective behind a test of the rank, which some ranks never get to."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Mode, Neutral, Rule, Severity

RULE = Rule(
    code="XLA408",
    name="collective-under-rank-test",
    family="step",
    severity=Severity.ERROR,
    modes=frozenset({Mode.LAZY}),
    needs_xla=True,
    neutral=Neutral.NOTHING,
)


def check(facts: Facts) -> Iterator[Finding]:
    # One of two arms that both have the collective is none: each rank gets to one of them.
    for call in facts.events(Effect.COLLECTIVE_BY_RANK):
        yield Finding(
            rule=RULE,
            at=call,
            message=f"`{call.spelling}` is a collective behind a test of the rank: the ranks that get there wait "
            "for the others, which never come",
            help=f"call `{call.subject}` on every rank, and test the rank around what one of them does on the host",
        )
