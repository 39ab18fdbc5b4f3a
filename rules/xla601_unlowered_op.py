"""XLA601: an op without an XLA lowering falls back to the host."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Neutral, Rule, Severity, how_often

RULE = Rule(code="XLA601", name="unlowered-op", family="lowering", severity=Severity.WARNING)


def check(facts: Facts) -> Iterator[Finding]:
    for op in facts.hot(Effect.CPU_FALLBACK):
        what = f"the backward pass of `{op.spelling}`" if op.backward_only else f"`{op.spelling}`"
        by = f" ({named(op.detail.split())})" if op.detail else ""
        yield Finding(
            rule=RULE,
            at=op,
            message=f"{what} has no lowering{by}: its operands are read on the host and its result is uploaded "
            f"{how_often(op)}",
            help="rewrite it with lowered ops, or compute it on the host before the upload",
            neutral=Neutral.REPLAY_BACKWARD if op.backward_only else None,
        )


def named(ops: list[str]) -> str:
    """The names of the ops; of three or more only the first."""
    return " or ".join(ops) if len(ops) < 3 else f"{ops[0]} or one of {len(ops) - 1} like it"
