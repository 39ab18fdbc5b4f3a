"""XLA111: a 0-dim device tensor is used as an index in every step."""

from collections.abc import Iterator

from xlalint.api import Edit, Effect, Event, Facts, Finding, Rule, Safety, Severity, how_often

RULE = Rule(code="XLA111", name="zero-dim-index", family="host-transfer", severity=Severity.WARNING)


def check(facts: Facts) -> Iterator[Finding]:
    for subscript in facts.hot(Effect.ZERO_DIM_INDEX):
        yield Finding(
            rule=RULE,
            at=subscript,
            message=f"`{subscript.spelling}` reads the 0-dim index `{subscript.operand}` on the host "
            f"{how_often(subscript)}",
            help="index with a one-element vector, `x[k.view(1)]`, or use `index_select`",
            fix=keep_a_dimension(subscript),
        )


def keep_a_dimension(subscript: Event) -> Edit | None:
    if subscript.form != "argmax":
        return None
    # Unsafe: the result has one dimension more. The call named last, inside the subscript, gets the keyword.
    return Edit(
        "add-keyword", subscript.span, "keep the dimension", Safety.UNSAFE, ("keepdim", "True", subscript.operand)
    )
