"""XLA504: a profiler trace blocks the loop, is never written, or splits the step."""

from collections.abc import Iterator

from xlalint.api import Edit, Effect, Event, Facts, Finding, Rule, Safety, Severity, how_often

RULE = Rule(
    code="XLA504",
    name="trace-misuse",
    family="profiler",
    severity=Severity.WARNING,
)

HELP = {
    "in-loop": "call `xp.trace_detached` once, before the loop, or `xp.trace` from another process",
    "start-without-stop": "call `xp.stop_trace()` on every path, in a `finally`",
    "partial-step": "put `xp.StepTrace` around the whole step, and `xp.Trace` around its parts",
}


def check(facts: Facts) -> Iterator[Finding]:
    for trace in facts.events(Effect.TRACE_MISUSE):
        yield Finding(
            rule=RULE,
            at=trace,
            message=f"`{trace.spelling}` {what_goes_wrong(trace)}",
            help=HELP.get(trace.subject, HELP["partial-step"]),
            fix=mended(trace),
        )


def what_goes_wrong(trace: Event) -> str:
    if trace.subject == "in-loop":
        return f"blocks the loop that it is called in, {how_often(trace)}: it captures no step and raises"
    if trace.subject == "start-without-stop":
        return "starts a trace that is not stopped on every path: the trace is never written"
    return f"encloses a part of the step and syncs at its end: it adds an execution {how_often(trace)}"


def mended(trace: Event) -> Edit | None:
    if trace.subject != "partial-step":
        return None
    callee = "torch_xla.debug.profiler.Trace"
    return Edit("replace-callee", trace.span, "use xp.Trace, which does not sync", Safety.UNSAFE, (callee,))
