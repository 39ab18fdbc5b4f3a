"""XLA313: the batch size or the image size changes from step to step."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Heat, Mode, Neutral, Rule, Severity

RULE = Rule(
    code="XLA313",
    name="varying-batch",
    family="bucketing",
    severity=Severity.WARNING,
    modes=frozenset({Mode.LAZY, Mode.DYNAMO}),
    neutral=Neutral.REPLAY_BATCH,
)


def check(facts: Facts) -> Iterator[Finding]:
    for batch in facts.events(Effect.VARYING_BATCH):
        # A loader is made once and hands out batches in every step; a call that makes a batch must itself be hot.
        if batch.form != "constructor" and batch.heat < Heat.STEP:
            continue
        reason = f", for {batch.detail}" if batch.detail else ""
        what = f"yields batches whose size changes from step to step{reason}"
        if batch.subject == "file":
            what = f"is given `{batch.operand}`, which is as large as the file that it was read from"
        yield Finding(
            rule=RULE,
            at=batch,
            message=f"`{batch.spelling}` {what}: each new size compiles a new graph",
            help=OF_FILES if batch.subject == "file" else OF_BATCHES,
        )


OF_FILES = "resize or crop all of them to one size, or pad them to one of a few"
OF_BATCHES = "use one batch size and one image size, or a few of them; fill up with rows that the loss masks out"
