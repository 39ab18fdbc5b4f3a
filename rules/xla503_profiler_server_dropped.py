"""XLA503: the profiler's server is thrown away, and its port closes."""

from collections.abc import Iterator

from xlalint.api import Edit, Effect, Event, Facts, Finding, Neutral, Rule, Safety, Severity

RULE = Rule(
    code="XLA503",
    name="profiler-server-dropped",
    family="profiler",
    severity=Severity.WARNING,
    neutral=Neutral.NOTHING,
)


def check(facts: Facts) -> Iterator[Finding]:
    for server in facts.events(Effect.PROFILER_SERVER):
        kept = "is kept in a name that goes away before training" if server.subject == "local" else "is not kept"
        yield Finding(
            rule=RULE,
            at=server,
            message=f"the server that `{server.spelling}` makes {kept}: its port closes, and no profile can be taken",
            help="keep the result as long as the program trains",
            fix=keep_it(server),
        )


def keep_it(server: Event) -> Edit | None:
    # A name in a function that returns at once would lose it again.
    if server.subject == "local" or server.form != "trains-here":
        return None
    return Edit("assign-result", server.span, "keep the server", Safety.SAFE, ("server",))
