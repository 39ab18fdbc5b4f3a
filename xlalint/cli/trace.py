"""``xlalint trace -- python train.py …``: what the device did, by line of the user's source."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from xlalint.cli import trace_guard
from xlalint.cli.console import say
from xlalint.cli.options import TERMS, GivenPath, configurations, joined
from xlalint.cli.progress import ProgressLine
from xlalint.cli.stages import Stages

if TYPE_CHECKING:
    from xlalint.device.trace.confirmation import TraceReport
    from xlalint.device.trace.launch import Asked
    from xlalint.device.trace.timeline import Span
    from xlalint.findings.configuration import Configurations

_MODES = ("lazy", "dynamo", "eager")
_READING = "reading what was recorded"


def _chosen_modes(_: click.Context, __: click.Parameter, value: str) -> tuple[str, ...]:
    """``lazy,eager``, or ``all``."""
    named = _MODES if value == "all" else tuple(dict.fromkeys(value.split(",")))
    for mode in named:
        if mode not in _MODES:
            raise click.BadParameter(f"`{mode}` is none of {', '.join(_MODES)}")
    return named


def _line(_: click.Context, __: click.Parameter, value: str | None) -> tuple[str, int] | None:
    if value is None:
        return None
    path, _colon, line = value.rpartition(":")
    if not path or not line.isdecimal() or int(line) < 1:
        raise click.BadParameter(f"`{value}` is not FILE:LINE")
    return (os.path.realpath(path) if os.path.exists(path) else path, int(line))


def _moved(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    pairs = [value.partition("=") for value in values]
    for there, sign, here in pairs:
        if not (there and sign and here):
            raise click.BadParameter(f"`{there}{sign}{here}` is not THERE=HERE")
    return tuple((there, here) for there, _sign, here in pairs)


def _range(_: click.Context, __: click.Parameter, value: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+)(?:-(\d+))?", value)
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not 1 <= first <= last:
        raise click.BadParameter(f"`{value}` is not FIRST-LAST")
    return first, last


@click.command("trace", short_help="Run a program and count what each line costs on the device.", epilog=TERMS)
@click.argument("program", nargs=-1, type=click.UNPROCESSED, metavar="[-- PROGRAM...]")
@click.option(
    "--mode", "modes", default="lazy", callback=_chosen_modes, help="Modes to run it in, a run each. [default: lazy]"
)
@click.option("--step-at", callback=_line, metavar="FILE:LINE", help="A step begins where this line is reached.")
@click.option(
    "--include", metavar="LIST", multiple=True, callback=joined, help="Packages whose lines are shown as your own."
)
@click.option(
    "--library/--no-library", default=True, help="Show lines of packages below your lines. [default: library]"
)
@click.option("--timeline", type=GivenPath(dir_okay=False), help="Write a timeline for Perfetto or chrome://tracing.")
@click.option(
    "--timeline-steps", default="1-20", show_default=True, callback=_range, metavar="FIRST-LAST", help="Steps in it."
)
@trace_guard.options
@click.option(
    "--from-log", type=GivenPath(exists=True, dir_okay=False), help="Read debug logs or metrics reports, one a host."
)
@click.option(
    "--map", "moved", metavar="THERE=HERE", multiple=True, callback=_moved, help="Where files named by a log lie here."
)
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Form.")
@click.option("--program-output", type=GivenPath(dir_okay=False), help="Where the program's standard output goes.")
@click.option("--config", type=GivenPath(), help="Use this configuration file and no other.")
@click.option("--isolated", is_flag=True, help="Use no configuration file.")
def command(program: tuple[str, ...], from_log: str | None, output_format: str, **chosen: Any) -> int:
    """Run PROGRAM (`python train.py`, `python -m train`, `torchrun …`) unchanged, and attribute what the device did to
    lines of source. It needs torch_xla in PROGRAM's Python; with --from-log FILE... nothing is run.

    The program's standard output goes to standard error. The exit code is the program's, 2 if it could not be run, 1
    if a condition of --fail-on or a figure of --budget is exceeded.
    """
    if not program and not from_log:
        raise click.UsageError("give a program after `--`, or --from-log FILE")
    if program and not program[0]:
        raise click.UsageError("the program has an empty name")
    guard = trace_guard.Guard.of(chosen)
    reports = [_of_logs((from_log, *program), chosen)] if from_log else _of_runs(program, chosen)
    say(_rendered(reports, output_format), utf8=output_format == "json")
    status = next((report.trace.status for report in reports if report.trace.status), 0)
    return status or guard.judge(reports)


def _of_logs(paths: Sequence[str], chosen: dict[str, Any]) -> TraceReport:
    from xlalint.tracing import NoLog, trace_of_logs

    if missing := next((path for path in paths if not os.path.isfile(path)), None):
        raise click.UsageError(f"{missing}: no such file; give logs, or a program without --from-log")
    if chosen["timeline"]:
        raise click.UsageError("a log has no times: --timeline needs a program")
    asked, settings = _asked(chosen), {"config": chosen["config"], "isolated": chosen["isolated"], "mode": "all"}
    try:
        with ProgressLine(quiet=False) as line:
            stages = Stages(line, _READING)
            named = [Path(path) for path in paths]
            return trace_of_logs(named, configurations(settings), asked, chosen["moved"], stages)
    except NoLog as error:
        raise click.ClickException(str(error)) from error


def _of_runs(program: tuple[str, ...], chosen: dict[str, Any]) -> list[TraceReport]:
    if chosen["moved"]:
        raise click.UsageError("--map is for logs: --from-log FILE")
    settings = {"config": chosen["config"], "isolated": chosen["isolated"]}
    configured = {mode: configurations({**settings, "mode": mode}) for mode in chosen["modes"]}
    _refuse_wrong(configured.values())
    with _output(chosen["program_output"]) as output:
        runs = [_traced(program, mode, configured[mode], output, _asked(chosen)) for mode in configured]
    if chosen["timeline"]:
        _write_timeline(chosen["timeline"], runs[0][1], chosen["timeline_steps"])
    return [report for report, _ in runs]


def _asked(chosen: dict[str, Any]) -> Asked:
    from xlalint.device.trace.launch import Asked

    return Asked(
        included=chosen["include"] or (),
        library=chosen["library"],
        step_at=chosen["step_at"],
        times=chosen["timeline"] is not None,
    )


def _refuse_wrong(configured: Iterable[Configurations]) -> None:
    """Before a program runs that may take hours: afterwards it would cost what was recorded."""
    from xlalint.linting import Bench

    for one in configured:
        one.refuse_missing_packages(os.getcwd())
        Bench(one).refuse_unknown_selectors([os.getcwd()])


def _traced(
    program: tuple[str, ...], mode: str, configured: Configurations, output: IO[bytes] | int, asked: Asked
) -> tuple[TraceReport, tuple[Span, ...]]:
    from xlalint.device.trace.launch import NotStarted
    from xlalint.findings.model import Mode
    from xlalint.tracing import trace

    try:
        # While the program runs the terminal is its own.
        with ProgressLine(quiet=False) as line:
            return trace(program, Mode(mode), configured, output, asked, lambda: Stages(line, _READING))
    except NotStarted as error:
        raise click.ClickException(str(error)) from error


def _write_timeline(path: str, spans: tuple[Span, ...], steps: tuple[int, int]) -> None:
    from xlalint.reports.timeline_json import render

    first, last = steps
    try:
        Path(path).write_text(render([span for span in spans if first <= span.step <= last]), encoding="utf-8")
    except OSError as error:
        raise click.ClickException(f"{path}: {error.strerror or error}") from error


def _output(path: str | None) -> contextlib.AbstractContextManager[IO[bytes] | int]:
    if path is None:
        return contextlib.nullcontext(sys.stderr.fileno())
    try:
        return open(path, "wb")
    except OSError as error:
        raise click.ClickException(f"{path}: {error.strerror or error}") from error


def _rendered(reports: list[TraceReport], output_format: str) -> str:
    if output_format == "json":
        from xlalint.reports.trace_json import render
    else:
        from xlalint.reports.trace_text import render
    return render(reports)
