"""XLA103: a device tensor is copied to the host in every step."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Rule, Severity, how_often

RULE = Rule(code="XLA103", name="copy-to-host", family="host-transfer", severity=Severity.WARNING)


def check(facts: Facts) -> Iterator[Finding]:
    for copy in facts.hot(Effect.COPY_TO_HOST):
        yield Finding(
            rule=RULE,
            at=copy,
            message=f"`{copy.spelling}` copies `{copy.operand}` to the host {how_often(copy)}",
            help="keep it on the device and copy once after the loop; `non_blocking=True` blocks as well",
        )
