"""``xlalint check PATH…``: lint, report, exit code."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from xlalint.cli.caching import Choice, cache_options
from xlalint.cli.console import complain, in_chunks, say, use_color
from xlalint.cli.entry import FAILED
from xlalint.cli.hiding import Hiding, hiding_options
from xlalint.cli.options import TERMS, ReportPath, configurations, paths_complete, project_options, settings_options
from xlalint.cli.progress import ProgressLine
from xlalint.cli.silencing import DEFAULT_REASON, add_ignores, one_line
from xlalint.cli.stages import Stages
from xlalint.sources.observations import Observations
from xlalint.sources.observed import observing

if TYPE_CHECKING:
    from xlalint.cache.folder import CacheFolder
    from xlalint.findings.configuration import Configurations
    from xlalint.findings.model import Diagnostic, Report
    from xlalint.inputs import Stdin
    from xlalint.unchanged import Question

_FORMATS = ("text", "concise", "json", "sarif", "github", "gitlab", "junit", "rdjson", "markdown")
# Read by programs, which take UTF-8 whatever the locale says.
_FOR_PROGRAMS = frozenset({"json", "sarif", "gitlab", "junit", "rdjson", "markdown"})


class Output(NamedTuple):
    """How the report is written."""

    format: str
    file: str | None
    color: str
    statistics: bool
    quiet: bool
    verbose: bool
    exit_zero: bool
    strict: bool
    ignore_suppressions: bool


class Reading(NamedTuple):
    """What is read beside the named files: the cache, and the project around them."""

    cache: CacheFolder | None = None
    project: str | None = None
    alone: bool = False


@click.command("check", short_help="Lint files and folders (this is the default).", epilog=TERMS)
@click.argument("paths", nargs=-1, metavar="[PATH]...", shell_complete=paths_complete)
@settings_options
@click.option(
    "--output-format", type=click.Choice(_FORMATS), default="text", show_default=True, help="Form of the report."
)
@click.option("--output", "-o", type=ReportPath(), help="Write the report to this file.")
@click.option(
    "--color", type=click.Choice(["auto", "always", "never"]), default="auto", show_default=True, help="Colours."
)
@click.option("--statistics", is_flag=True, help="Count findings by rule instead of showing them.")
@click.option("--quiet", "-q", is_flag=True, help="Findings and errors only.")
@click.option("--verbose", "-v", is_flag=True, help="Report settings and times on standard error.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even where something is found.")
@click.option("--strict", is_flag=True, help="Exit with 2 where any file can't be read.")
@click.option("--ignore-suppressions", is_flag=True, help="Report suppressed findings too.")
@click.option(
    "--add-ignores",
    "add_ignores_to_files",
    is_flag=True,
    help="Write a comment that silences it at the line of each finding.",
)
@click.option(
    "--reason", default=DEFAULT_REASON, show_default=True, callback=one_line, help="The reason in these comments."
)
@hiding_options
@cache_options
@click.option("--stdin-filename", metavar="FILE", help="Path of the source on standard input (`-`).")
@project_options
@click.option("--show-settings", is_flag=True, help="Show the settings for the first path, and stop.")
@click.option("--show-files", is_flag=True, help="Show the files that would be linted, and stop.")
def command(
    paths: tuple[str, ...],
    stdin_filename: str | None,
    show_settings: bool,
    show_files: bool,
    add_ignores_to_files: bool,
    reason: str,
    project: str | None,
    no_project: bool,
    **chosen: Any,
) -> int:
    """Find the lines in PATHs that cost on XLA. `-` is standard input; without a PATH it is the working directory.

    Exit codes: 0 nothing found, 1 findings of level warning or above, 2 the tool could not do what was asked.
    """
    # What a run makes it keeps, modules first of all: there is nothing to collect.
    gc.disable()
    output = output_of(chosen)
    choice = Choice.of(chosen)
    hiding = Hiding.of(chosen).without_default(chosen["isolated"])
    if stdin_filename and "-" not in paths:
        raise click.UsageError("--stdin-filename is for standard input: give `-` as a PATH")
    if add_ignores_to_files and "-" in paths:
        raise click.UsageError("--add-ignores writes to files, and standard input is none")
    paths = paths or (".",)
    named = named_paths(path for path in paths if path != "-")
    settings = dict(chosen)
    with nullcontext(Observations()) if choice.no_cache else observing() as seen:
        configured = configurations(chosen)
        if show_settings:
            return _show_settings(configured, paths[0], stdin_filename)
        if show_files:
            return _show_files(configured, named)
        stdin = _stdin(stdin_filename, configured) if "-" in paths else None
        cache = choice.open(quiet=output.quiet, verbose=output.verbose)
        reading = Reading(cache.folder, project, no_project)
        report = cache.report(
            lambda: _question(named, settings, stdin, reading),
            seen,
            lambda: linted(named, configured, stdin, reading, output),
        )
    report = hiding.applied(report, configured, [*map(str, named), *([stdin.name] if stdin is not None else [])])
    if add_ignores_to_files:
        complain_of(report, stdin, output, named)
        return add_ignores(report, reason, quiet=output.quiet)
    written = write_report(report, configured, stdin, output)
    complain_of(report, stdin, output, named)
    return exit_code(report, configured, output) if written else FAILED


def _question(named: list[Path], settings: dict[str, object], stdin: Stdin | None, reading: Reading) -> Question:
    from xlalint.unchanged import Question

    given = (stdin.name, stdin.data) if stdin is not None else None
    return Question(tuple(map(str, named)), settings, reading.project, reading.alone, given)


def output_of(chosen: dict[str, Any]) -> Output:
    """Takes the options of the output out of ``chosen``; what stays are settings."""
    names = {"format": "output_format", "file": "output"}
    return Output(**{field: chosen.pop(names.get(field, field)) for field in Output._fields})


def named_paths(paths: Iterable[str]) -> list[Path]:
    """Each once. Raises ``UsageError`` for an empty one, which would be the working directory."""
    each = dict.fromkeys(paths)
    if "" in each:
        raise click.UsageError("a path is empty")
    return [Path(path) for path in each]


def _stdin(name: str | None, configured: Configurations) -> Stdin:
    from xlalint.inputs import Stdin
    from xlalint.sources.discover import shown
    from xlalint.sources.read import read_stream
    from xlalint.sources.source import Unreadable

    path = shown(os.path.abspath(name)) if name else "-"
    if sys.stdin is None:  # closed by whoever started us: `<&-`
        raise click.ClickException("standard input is closed")
    try:
        return Stdin(path, read_stream(sys.stdin.buffer, configured.of_file(path).settings.max_file_size))
    except OSError as error:
        raise click.ClickException(f"standard input: {error.strerror or error}") from error
    except Unreadable as error:
        raise click.ClickException(f"standard input {error}") from error


def linted(
    named: list[Path],
    configured: Configurations,
    stdin: Stdin | None,
    reading: Reading,
    output: Output,
    *,
    timed: bool = True,
) -> Report:
    """``timed``: whether the end of it is worth an estimate, as where nothing comes after it."""
    from xlalint.linting import Options, lint

    jobs = configured.of_folder(os.getcwd()).settings.jobs
    for path in (*map(str, named), *([stdin.name] if stdin is not None else [])):
        configured.refuse_missing_packages(path)
    with ProgressLine(quiet=output.quiet) as line:
        return lint(named, configured, Options(jobs, *reading), stdin=stdin, progress=Stages(line, timed=timed))


def write_report(report: Report, configured: Configurations, stdin: Stdin | None, output: Output) -> bool:
    """False if the report could not be written; the user has been told."""
    from xlalint.cli.rendering import context_for
    from xlalint.reports import limits_met, pieces

    color = use_color(output.color, to_file=output.file is not None)
    context = context_for(
        report,
        configured,
        stdin,
        output.format,
        color=color,
        quiet=output.quiet,
        statistics=output.statistics,
        ignore_suppressions=output.ignore_suppressions,
    )
    limit = limits_met(report, output.format, context=context)
    if limit:
        complain("warning", limit)
    text = in_chunks(pieces(report, output.format, context=context))
    if output.file is None:
        all(say(chunk, utf8=output.format in _FOR_PROGRAMS) for chunk in text)
        return True
    try:
        with open(output.file, "w", encoding="utf-8", newline="\n") as file:
            file.writelines(text)
    except OSError as error:
        complain("error", f"{output.file}: {error.strerror or error}")
        return False
    return True


def complain_of(report: Report, stdin: Stdin | None, output: Output, named: list[Path]) -> None:
    from xlalint.reports.summary import plural

    for path in report.named_missing:
        # A path that is there and can't be reached brings its reason in brackets.
        complain("error", path if path.endswith(")") else f"{path}: no such file or folder")
    for skipped in report.skipped:
        complain("warning", f"{skipped.place}: {skipped.reason}")
    for remark in report.remarks:
        complain("warning", remark)
    if not (report.files or report.skipped or report.named_missing or stdin or output.quiet):
        complain("warning", f"no Python files found in {', '.join(f'`{path}`' for path in named)}")
    if output.verbose:
        complain("note", f"{plural(report.files, 'file')} checked in {report.seconds:.2f} s")


def exit_code(report: Report, configured: Configurations, output: Output) -> int:
    """0, 1 or 2, by the table in ``docs/configuration.md``."""
    if report.named_missing:
        return FAILED
    if report.skipped and (output.strict or not report.files):
        return FAILED
    if not output.exit_zero and any(_counts(found, configured, output) for found in report.diagnostics):
        return 1
    return FAILED if any(skipped.internal for skipped in report.skipped) else 0


def _counts(found: Diagnostic, configured: Configurations, output: Output) -> bool:
    """Whether a finding is one to fail for."""
    from xlalint.findings.model import Severity, Verdict

    if found.suppressed is not None and not output.ignore_suppressions:
        return False
    if found.evidence is not None and found.evidence.verdict is Verdict.REFUTED:
        return False
    return found.severity >= Severity[configured.of_file(found.path).settings.fail_on.upper()]


def _show_settings(configured: Configurations, path: str, stdin_filename: str | None) -> int:
    from xlalint.cli.rendering import settings_text

    if path == "-":
        path = stdin_filename or "."
    path = os.path.abspath(path)
    say(settings_text(configured.of_folder(path) if os.path.isdir(path) else configured.of_file(path)))
    return 0


def _show_files(configured: Configurations, named: list[Path]) -> int:
    from xlalint.sources.discover import discover

    found = discover(named, lambda folder: configured.of_folder(folder).excludes())
    say("".join(f"{file.shown}\n" for file in found.files))
    for path in found.missing:
        complain("error", f"{path}: no such file or folder")
    for refused in found.refused:
        complain("warning", f"{refused.shown}: {refused.reason}")
    return FAILED if found.missing else 0
