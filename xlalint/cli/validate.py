"""``xlalint validate PATH…``: lint, run each finding on a device, report, exit code."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from xlalint.cli import check
from xlalint.cli import sandbox as sandboxing
from xlalint.cli.caching import opened
from xlalint.cli.console import complain, say
from xlalint.cli.entry import FAILED
from xlalint.cli.options import (
    TERMS,
    GivenPath,
    ReportPath,
    Seconds,
    configurations,
    given_values,
    joined_some,
    project_options,
    settings_options,
)
from xlalint.cli.progress import ProgressLine, Standing

if TYPE_CHECKING:
    from xlalint.device.validation.invocation import Invocation
    from xlalint.findings.configuration import Configurations
    from xlalint.findings.model import Diagnostic, Mode, Report
    from xlalint.validating import Underway


_RUN = "--run"
_PROGRAM = f"{__name__}.program"


class _BeforeProgram(click.Command):
    """With `--run`, what follows `--` is a program, and no path of the linter's."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args and _RUN in args[: args.index("--")]:
            at = args.index("--")
            ctx.meta[_PROGRAM] = tuple(args[at + 1 :])
            args = args[:at]
        return super().parse_args(ctx, args)


class Wanted(NamedTuple):
    """How findings are run, and what is kept of it."""

    steps: int
    timeout: float
    only: tuple[str, ...] | None
    show_program: bool
    keep: str | None
    assume: dict[str, str]
    budget: float | None
    invocation: Invocation | None


@click.command(
    "validate", cls=_BeforeProgram, short_help="Run each finding on a device, and confirm or refute it.", epilog=TERMS
)
@click.argument("paths", nargs=-1, metavar="[PATH]... [-- PROGRAM...]")
@settings_options
@click.option(
    "--output-format",
    type=click.Choice(["text", "concise", "json", "sarif", "github"]),
    default="text",
    show_default=True,
    help="Form of the report.",
)
@click.option("--output", "-o", type=ReportPath(), help="Write the report to this file.")
@click.option(
    "--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True, help="Colours."
)
@click.option("--quiet", "-q", is_flag=True, help="Findings and errors only.")
@click.option("--verbose", "-v", is_flag=True, help="Report settings and times on standard error.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even where something is found.")
@click.option("--strict", is_flag=True, help="Exit with 2 where any file can't be read.")
@project_options
@click.option(_RUN, "as_it_is", is_flag=True, help="Run PROGRAM (`python train.py …`) as it is, and nothing else.")
@click.option("--steps", type=click.IntRange(2, 1000), default=6, show_default=True, help="Steps of the shorter run.")
@click.option("--timeout", type=Seconds(), default=30.0, show_default=True, help="Seconds that one run may take.")
@click.option("--only", metavar="LIST", multiple=True, callback=joined_some, help="Run findings of these rules only.")
@click.option("--show-program", is_flag=True, help="Show the program that was run for each finding.")
@click.option("--keep", type=GivenPath(file_okay=False), metavar="DIR", help="Write the programs to this folder.")
@click.option(
    "--assume",
    metavar="NAME=EXPR",
    multiple=True,
    callback=given_values,
    help="What an argument of a script, or a name that the program lacks, is in Python: `--assume 'arch=\"vit\"'`.",
)
@click.option("--budget", type=Seconds(), help="Seconds after which no further finding is begun; the worst come first.")
@sandboxing.sandbox_options
@click.option("--rules", is_flag=True, help="Run the rules' own experiments instead; PATHs are codes or names.")
def command(paths: tuple[str, ...], rules: bool, project: str | None, no_project: bool, **chosen: Any) -> int:
    """Lint PATHs and run each finding on a torch_xla device: as it is, and without what it is flagged for.

    The device is that of PJRT_DEVICE, the CPU by default. A script that leads to a finding is run, up to some steps; or
    the finding is cut out of your program. Statements of yours run, behind a wall, and what is not there is stood in
    for. With --run, PROGRAM is run as it is, in a scratch copy of this folder, and cut off after --steps steps; without
    PATHs it is linted with the files that it imports. Exit codes: 0 nothing found that the device does not refute, 1
    findings, 2 the tool could not do what was asked.
    """
    chosen["invocation"] = _invocation(chosen.pop("as_it_is"), rules, chosen["mode"])
    wanted = Wanted(*(chosen.pop(name) for name in Wanted._fields))
    sandbox = sandboxing.wanted(chosen)
    if rules:
        from xlalint.cli.rules_on_device import run_rules

        return run_rules(paths, sandbox)
    chosen |= {"statistics": False, "ignore_suppressions": False}
    output = check.output_of(chosen)
    configured = configurations(chosen)
    if "-" in paths:
        raise click.UsageError("standard input can't be validated: name a file")
    named = check.named_paths(paths or _run_by(wanted.invocation))
    only = _codes(wanted.only)
    reading = check.Reading(opened(quiet=output.quiet), project, no_project)
    linted = check.linted(named, configured, None, reading, output, timed=False)
    folders = _folders(named, configured, project, no_project)
    if wanted.invocation is not None:
        folders += [wanted.invocation.folder, os.path.dirname(wanted.invocation.script)]
    bounds = _Bounds(sandbox, folders, _packages(configured, wanted.invocation))
    report = _validated(linted, configured, wanted, only, bounds, output.quiet)
    _complain_of_other_devices(report)
    kept = wanted.keep is None or _keep(report, Path(wanted.keep))
    written = check.write_report(report, configured, None, output)
    if wanted.show_program:
        say("".join(_programs(report)))
    check.complain_of(report, None, output, named)
    return check.exit_code(report, configured, output) if written and kept else FAILED


class _Bounds(NamedTuple):
    """What the programs may do."""

    sandbox: sandboxing.Sandbox
    folders: list[str]
    """They may be read."""
    packages: list[str]
    """Folders with installed packages, which may be read and imported from."""


def _invocation(as_it_is: bool, rules: bool, mode: str | None) -> Invocation | None:
    """What follows `--`, where the program itself is to be run. Raises ``UsageError``."""
    from xlalint.device.validation.invocation import NotRunnable, invocation_of

    if not as_it_is:
        return None
    if rules or mode not in (None, "lazy"):
        raise click.UsageError(f"--run does not go with {'--rules' if rules else f'--mode {mode}'}")
    try:
        return invocation_of(click.get_current_context().meta.get(_PROGRAM, ()), os.getcwd())
    except NotRunnable as error:
        raise click.UsageError(str(error)) from None


def _run_by(invocation: Invocation | None) -> list[str]:
    """The files of a program, as they are shown from here; this folder where there is none."""
    from xlalint.slicing.scripts import Scripts

    if invocation is None:
        return ["."]
    folders = [os.path.dirname(invocation.script), invocation.folder]
    found = Scripts(folders).run_by(invocation.script) or [invocation.script]
    here = os.path.join(os.path.realpath(os.getcwd()), "")
    return [each.removeprefix(here) for each in found]


def _folders(named: list[Path], configured: Configurations, project: str | None, alone: bool) -> list[str]:
    """What is linted, and the projects that it lies in."""
    from xlalint.inputs import projects

    return [*map(os.path.abspath, named), *(() if alone else projects(named, None, project, configured))]


def _packages(configured: Configurations, invocation: Invocation | None) -> list[str]:
    """Those of the environment that is named, is active, or lies in this folder, if they are of this Python."""
    from xlalint.installed.environment import folders_of

    here = os.getcwd()
    named = invocation.interpreter if invocation is not None else ""
    found = folders_of(named or configured.of_folder(here).settings.python, here)
    other = re.compile(rf"[/\\\\]python(?!{sys.version_info[0]}\\.{sys.version_info[1]}[/\\\\])\\d")
    return [folder for folder in found if not other.search(folder)]


def _searched(folders: list[str]) -> list[str]:
    """Where scripts are looked for: the folders, and those of the files, that are linted."""
    return list(dict.fromkeys(each if os.path.isdir(each) else os.path.dirname(each) for each in folders))


def _codes(names: tuple[str, ...] | None) -> frozenset[str]:
    """Of the rules that are named, by code or by name; empty for all of them. Raises ``UsageError``."""
    from xlalint.cli.rules_on_device import chosen_rules

    return frozenset(rule.code for rule in chosen_rules(names)) if names else frozenset()


def _validated(
    linted: Report,
    configured: Configurations,
    wanted: Wanted,
    only: frozenset[str],
    bounds: _Bounds,
    quiet: bool,
) -> Report:
    from xlalint.device.validation.case import Settings
    from xlalint.device.worker.experiment import WorkerError
    from xlalint.findings.own_examples import is_own_example
    from xlalint.validating import runnable, validate

    paths = {one.path for one in runnable(linted, only)}
    if not paths:
        return linted
    # A file that is named alone imports and reads what lies beside it.
    readable = [*dict.fromkeys([*bounds.folders, *_searched(bounds.folders)]), *bounds.packages]
    around = sandboxing.guard(bounds.sandbox, readable, own=all(map(is_own_example, paths)))
    settings = configured.of_folder(os.getcwd()).settings
    try:
        with ProgressLine(quiet=quiet) as line:
            line.show(Standing("starting the device"))

            def noted(text: str) -> None:
                with line.wiped():
                    complain("note", text)

            return validate(
                linted,
                configured,
                Settings(wanted.steps, wanted.timeout, _modes(settings.mode), wanted.assume),
                guard=around,
                jobs=settings.jobs or _side_by_side(),
                only=only,
                folders=_searched(bounds.folders),
                packages=bounds.packages,
                invocation=wanted.invocation,
                budget=wanted.budget,
                told=lambda now: line.show(_standing(now)),
                noted=None if quiet else noted,
            )
    except WorkerError as error:
        raise click.ClickException(f"{error}: `pip install 'xlalint[device]'` brings torch and torch_xla") from error


def _standing(now: Underway) -> Standing:
    """How many are done, the verdicts so far, and what is being run."""
    running = ", ".join(f"{one.path}:{one.at.line} {one.code}" for one in now.running)
    verdicts = ", ".join(f"{count} {verdict.value}" for verdict, count in now.verdicts.items())
    told = "; ".join(filter(None, (verdicts, running)))
    return Standing(f"validating: {now.done}/{now.total} findings: {told}", now.done / now.total)


def _complain_of_other_devices(report: Report) -> None:
    """Findings are made for the device of the profile; what another says of them is another matter."""
    devices = {one.evidence.device for one in report.diagnostics if one.evidence is not None}
    for used in report.profiles:
        for device in devices - {used.device}:
            there, here = (f"{d.kind} device, torch {d.torch}, torch_xla {d.torch_xla}" for d in (used.device, device))
            complain("warning", f"profile {used.path} is of a {there}, and this is a {here}")


def _side_by_side() -> int:
    """How many workers there are by default. Each holds a gigabyte, and only the CPU can be shared."""
    return min(2, os.cpu_count() or 1) if os.environ.get("PJRT_DEVICE", "CPU") == "CPU" else 1


def _modes(name: str) -> tuple[Mode, ...]:
    from xlalint.findings.model import Mode

    return tuple(Mode) if name == "all" else (Mode(name),)


def _programs(report: Report) -> list[str]:
    found = []
    for one in report.diagnostics:
        if one.evidence is not None and one.evidence.program:
            found.append(f"\n# {one.path}:{one.at.line} {one.code} {one.name}\n{_runnable(one, one.evidence.program)}")
    return found


def _keep(report: Report, folder: Path) -> bool:
    """Two files a finding: the program as it is, and without the flagged cost. False if they could not be written; the
    user has been told."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for one in report.diagnostics:
            if one.evidence is None or not one.evidence.program:
                continue
            name = f"{Path(one.path).stem}_{one.at.line}_{one.code.lower()}"
            for suffix, text in (("before", one.evidence.program), ("after", one.evidence.neutral_program)):
                (folder / f"{name}_{suffix}.py").write_text(_runnable(one, text), encoding="utf-8")
    except OSError as error:
        complain("error", f"{folder}: {error.strerror or error}")
        return False
    return True


def _runnable(one: Diagnostic, program: str) -> str:
    """The program with what runs it by hand: it prints the runtime's own report."""
    return (
        f"# Cut out of {one.path}, for line {one.at.line} ({one.code} {one.name}).\n{program}\n\n"
        'if __name__ == "__main__":\n'
        "    import torch_xla.debug.metrics\n\n"
        "    kept = run(6)\n"
        "    print(torch_xla.debug.metrics.short_metrics_report())\n"
    )
