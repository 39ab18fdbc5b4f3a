"""XLA503: the profiler server is dropped, and its port closes."""

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
        kept = "is held by a local name that ends before training" if server.subject == "local" else "is not kept"
        yield Finding(
            rule=RULE,
            at=server,
            message=f"the server that `{server.spelling}` starts {kept}: its port closes, and nothing can be profiled",
            help="hold the result of `start_server` for as long as the program trains",
            fix=keep_it(server),
        )


def keep_it(server: Event) -> Edit | None:
    # A local name of a function that returns at once would drop it again.
    if server.subject == "local" or server.form != "trains-here":
        return None
    return Edit("assign-result", server.span, "keep the server", Safety.SAFE, ("server",))
