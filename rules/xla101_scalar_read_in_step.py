"""XLA101: the host reads a device scalar in every step, before the boundary."""

from collections.abc import Iterator

from xlalint.api import Edit, Effect, Event, Facts, Finding, Place, Rule, Safety, Severity, how_often

RULE = Rule(code="XLA101", name="scalar-read-in-step", family="host-transfer", severity=Severity.WARNING)


def check(facts: Facts) -> Iterator[Finding]:
    for read in facts.hot(Effect.SCALAR_READ):
        # After the boundary nothing is pending: XLA102 reports what remains.
        if read.place is Place.AFTER_BOUNDARY:
            continue
        yield Finding(
            rule=RULE,
            at=read,
            message=former_read(read)
            or f"`{read.spelling}` makes the host wait for `{read.operand}` {how_often(read)}",
            help="keep the value on the device with `detach()`; read it every few steps, after the step boundary",
            fix=stay_on_device(read),
        )


def former_read(read: Event) -> str:
    # `loss.data[0]` of programs older than torch_xla.
    if read.subject != "[0]":
        return ""
    return (
        f"`{read.spelling}` raises an `IndexError`, as a tensor without dimensions has no index since torch 0.5; "
        f"`{read.operand}.item()`, which took its place, makes the host wait {how_often(read)}"
    )


def stay_on_device(read: Event) -> Edit | None:
    # Only `total += loss.item()`: anywhere else a Python number is wanted, and a tensor would leak.
    if read.form != "accumulated" or read.subject != "item":
        return None
    return Edit("replace-method", read.span, "accumulate on the device", Safety.UNSAFE, ("detach",))
