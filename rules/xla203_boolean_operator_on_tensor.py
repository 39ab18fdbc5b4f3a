"""XLA203: `and`, `or`, `not` or a chained comparison reads the truth value of a device tensor in every step."""

from collections.abc import Iterator

from xlalint.api import Edit, Effect, Event, Facts, Finding, Neutral, Rule, Safety, Severity, how_often

RULE = Rule(
    code="XLA203",
    name="boolean-operator-on-tensor",
    family="control-flow",
    severity=Severity.WARNING,
    neutral=Neutral.REPLAY_TRUTH,
)
INSTEAD = {
    "and": "`torch.logical_and`, or `&` where both are bool",
    "or": "`torch.logical_or`, or `|` where both are bool",
    "not": "`torch.logical_not`, or `~` where it is bool",
}
ASKED = "test host values first and the tensor every few steps, or select on the device with `torch.where`"


def check(facts: Facts) -> Iterator[Finding]:
    for read in facts.hot(Effect.BOOLEAN_OPERATOR):
        operator = f"`{read.subject}`" if read.subject in INSTEAD else f"a {read.subject}"
        where = f", where `{read.guards[-1]}` holds" if read.guards else ""
        yield Finding(
            rule=RULE,
            at=read,
            message=f"{operator} reads the truth value of `{read.operand}` on the host {how_often(read)}{where}",
            help=what_to_write(read),
            fix=operate_on_device(read),
        )


def what_to_write(read: Event) -> str:
    # A condition needs its value on the host: an operator on the device would only postpone the read.
    if read.form == "in-test":
        return ASKED
    if read.form == "given-or-not":
        # Of a tensor of several elements nobody can mean the truth, which raises: whether there is one is asked for.
        return f"ask whether it is given: `{read.operand} is not None`"
    return f"use {INSTEAD.get(read.subject, 'two comparisons joined by `torch.logical_and`')}"


def operate_on_device(read: Event) -> Edit | None:
    # Of anything but two bool tensors, Python's operator gives back an operand and not its truth.
    if read.form != "two-bool-tensors":
        return None
    return Edit("boolean-to-logical", read.span, f"use torch.logical_{read.subject}", Safety.UNSAFE)
