"""``xlalint trace -- python train.py …``: what the device did, by line of the user's source."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from xlalint.cli.console import say
from xlalint.cli.options import TERMS, GivenPath, configurations

if TYPE_CHECKING:
    from xlalint.device.trace.confirmation import TraceReport
    from xlalint.findings.configuration import Configurations

_MODES = ("lazy", "dynamo", "eager")


def _chosen_modes(_: click.Context, __: click.Parameter, value: str) -> tuple[str, ...]:
    """``lazy,eager``, or ``all``."""
    named = _MODES if value == "all" else tuple(dict.fromkeys(value.split(",")))
    for mode in named:
        if mode not in _MODES:
            raise click.BadParameter(f"`{mode}` is none of {', '.join(_MODES)}")
    return named


@click.command("trace", short_help="Run a program and count what each line costs on the device.", epilog=TERMS)
@click.argument("program", nargs=-1, type=click.UNPROCESSED, metavar="[-- PROGRAM...]")
@click.option(
    "--mode", "modes", default="lazy", callback=_chosen_modes, help="Modes to run it in, a run each. [default: lazy]"
)
@click.option("--from-log", type=GivenPath(exists=True, dir_okay=False), help="Read a debug log or metrics report.")
@click.option("--output-format", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Form.")
@click.option("--program-output", type=GivenPath(dir_okay=False), help="Where the program's standard output goes.")
@click.option("--config", type=GivenPath(), help="Use this configuration file and no other.")
@click.option("--isolated", is_flag=True, help="Use no configuration file.")
def command(
    program: tuple[str, ...],
    modes: tuple[str, ...],
    from_log: str | None,
    output_format: str,
    program_output: str | None,
    **chosen: Any,
) -> int:
    """Run PROGRAM (`python train.py`, `python -m train`, `torchrun …`) unchanged, and attribute what the device did to
    lines of source. It needs torch_xla in PROGRAM's Python; with --from-log nothing is run.

    The program's standard output goes to standard error. The exit code is the program's, 2 if it could not be run.
    """
    if bool(program) == bool(from_log):
        raise click.UsageError("give a program after `--`, or --from-log FILE")
    if program and not program[0]:
        raise click.UsageError("the program has an empty name")
    if from_log:
        from xlalint.tracing import trace_of_log

        reports = [trace_of_log(Path(from_log), configurations({**chosen, "mode": "all"}))]
    else:
        configured = {mode: configurations({**chosen, "mode": mode}) for mode in modes}
        _refuse_wrong(configured.values())
        with _output(program_output) as output:
            reports = [_traced(program, mode, configured[mode], output) for mode in modes]
    say(_rendered(reports, output_format), utf8=output_format == "json")
    return next((report.trace.status for report in reports if report.trace.status), 0)


def _refuse_wrong(configured: Iterable[Configurations]) -> None:
    """Before a program runs that may take hours: afterwards it would cost what was recorded."""
    from xlalint.linting import Bench

    for one in configured:
        one.refuse_missing_packages(os.getcwd())
        Bench(one).refuse_unknown_selectors([os.getcwd()])


def _traced(program: tuple[str, ...], mode: str, configured: Configurations, output: IO[bytes] | int) -> TraceReport:
    from xlalint.device.trace.launch import NotStarted
    from xlalint.findings.model import Mode
    from xlalint.tracing import trace

    try:
        return trace(program, Mode(mode), configured, output)
    except NotStarted as error:
        raise click.ClickException(str(error)) from error


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
