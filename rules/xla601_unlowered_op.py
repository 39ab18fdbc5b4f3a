"""XLA601: an op without an XLA lowering falls back to the host."""

from collections.abc import Iterator

from xlalint.api import Effect, Event, Facts, Finding, Neutral, RootKind, Rule, Severity, how_often

TAKE_OFF = (
    "compute the normalised weight with lowered ops (`g * v / v.norm()`), or take it off where nothing is trained"
)
RULE = Rule(code="XLA601", name="unlowered-op", family="lowering", severity=Severity.WARNING)


def check(facts: Facts) -> Iterator[Finding]:
    for op in facts.hot(Effect.CPU_FALLBACK):
        what = f"the backward pass of `{op.spelling}`" if op.backward_only else f"`{op.spelling}`"
        by = f" ({named(op.detail.split())})" if op.detail else ""
        lacks = f"is lowered on {op.form} only{by}: elsewhere" if op.form else f"has no lowering{by}{put_on(op)}:"
        yield Finding(
            rule=RULE,
            at=op,
            message=f"{what} {lacks} its operands are read on the host and its result is uploaded {how_often(op)}",
            severity=Severity.NOTE if op.form else None,
            help=TAKE_OFF if put_on(op) else "rewrite it with lowered ops, or compute it on the host before the upload",
            neutral=Neutral.REPLAY_BACKWARD if op.backward_only else None,
        )


def put_on(op: Event) -> str:
    """Where what costs was put on the module, which the call itself does not show."""
    root = op.root
    if root is None or root.kind is not RootKind.CALL or root.span is None:
        return ""
    return f", because of {root.text} at {root.path}:{root.span.line}"


def named(ops: list[str]) -> str:
    """The names of the ops; of three or more only the first."""
    return " or ".join(ops) if len(ops) < 3 else f"{ops[0]} or one of {len(ops) - 1} like it"
