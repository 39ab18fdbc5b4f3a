"""XLA120: random numbers for the device are sampled on the host in every step."""

from collections.abc import Iterator

from xlalint.api import Effect, Facts, Finding, Mode, Rule, Severity, how_often

RULE = Rule(
    code="XLA120",
    name="host-generator",
    family="host-transfer",
    severity=Severity.WARNING,
    modes=frozenset({Mode.LAZY, Mode.EAGER}),
)


def check(facts: Facts) -> Iterator[Finding]:
    for draw in facts.hot(Effect.HOST_GENERATOR):
        yield Finding(
            rule=RULE,
            at=draw,
            message=f"`{draw.spelling}` uses a CPU generator: it samples on the host and uploads the numbers "
            f"{how_often(draw)}",
            help="drop `generator=` and seed the device with `torch_xla.manual_seed`",
        )
