"""XLA130: a tensor other than the batch is uploaded in every step."""

from collections.abc import Iterator

from xlalint.api import Edit, Effect, Event, Facts, Finding, Mode, Rule, Safety, Severity, how_often

RULE = Rule(
    code="XLA130",
    name="upload-in-step",
    family="host-transfer",
    severity=Severity.NOTE,
    modes=frozenset({Mode.LAZY, Mode.EAGER}),
    default=False,
)

WHAT = {
    "moved": "is created on the host and uploaded",
    "made": "is filled on the host and uploaded",
    "operand": "has an operand on the host, which is uploaded",
    "index": "has an index on the host, which is uploaded",
    "module": "is created on the host, and each of its parameters is uploaded",
}


def check(facts: Facts) -> Iterator[Finding]:
    for upload in facts.hot(Effect.UPLOAD):
        yield Finding(
            rule=RULE,
            at=upload,
            message=f"`{upload.spelling}` {WHAT[upload.subject]} {how_often(upload)}",
            help="create it once, before the loop, or on the device with `device=`",
            fix=made_there(upload),
        )


def made_there(upload: Event) -> Edit | None:
    if upload.form != "made-there":
        return None
    return Edit("make-on-device", upload.span, "create it on the device", Safety.SAFE)
