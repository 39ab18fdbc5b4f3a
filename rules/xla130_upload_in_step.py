"""XLA130: something is made on the host and goes to the device in every step, beside the batch."""

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
    "moved": "is made on the host and goes to the device",
    "made": "is filled on the host and goes to the device",
    "operand": "has an operand that lies on the host and goes to the device",
    "index": "has an index that lies on the host and goes to the device",
    "module": "is made on the host, and each of its parameters goes to the device",
}


def check(facts: Facts) -> Iterator[Finding]:
    for upload in facts.hot(Effect.UPLOAD):
        yield Finding(
            rule=RULE,
            at=upload,
            message=f"`{upload.spelling}` {WHAT[upload.subject]} {how_often(upload)}",
            help="make it once, before the loop, or on the device",
            fix=made_there(upload),
        )


def made_there(upload: Event) -> Edit | None:
    if upload.form != "made-there":
        return None
    return Edit("make-on-device", upload.span, "make it on the device", Safety.SAFE)
