"""XLA110: a device tensor is converted to a Python number implicitly in every step."""

from collections.abc import Iterator

from xlalint.api import Edit, Effect, Event, Facts, Finding, Rule, Safety, Severity, how_often

RULE = Rule(code="XLA110", name="tensor-as-python-number", family="host-transfer", severity=Severity.WARNING)


def check(facts: Facts) -> Iterator[Finding]:
    for use in facts.hot(Effect.TENSOR_AS_NUMBER):
        yield Finding(
            rule=RULE,
            at=use,
            message=f"`{use.spelling}` reads {what_is_read(use)} as a Python number {how_often(use)}",
            help="keep sizes and counts as Python numbers; join tensors with `torch.stack`, scale with `x * t`",
            fix=stack(use),
        )


def what_is_read(use: Event) -> str:
    return f"`{use.operand}`" if use.operand else "a device tensor"


def stack(use: Event) -> Edit | None:
    if use.form != "list-of-tensors":
        return None
    # Unsafe: the result keeps the dtype and the gradients of the elements.
    return Edit("replace-callee", use.span, "stack them on the device", Safety.UNSAFE, ("torch.stack",))
