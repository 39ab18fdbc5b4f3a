"""``xlalint baseline``: accept what is found now."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from xlalint.cli import check
from xlalint.cli.caching import opened
from xlalint.cli.console import complain, say
from xlalint.cli.entry import FAILED
from xlalint.cli.options import ReportPath, configurations, paths_complete, project_options, settings_options

if TYPE_CHECKING:
    from xlalint.findings.baseline import Entry


@click.command("baseline", short_help="Accept the findings of now: write them to a file that `check` reads.")
@click.argument("paths", nargs=-1, metavar="[PATH]...", shell_complete=paths_complete)
@settings_options
@click.option(
    "--output",
    "-o",
    type=ReportPath(),
    metavar="FILE",
    help="The file. [default: `baseline` of the configuration, or xlalint-baseline.txt beside it]",
)
@click.option("--quiet", "-q", is_flag=True, help="Errors only.")
@project_options
def command(
    paths: tuple[str, ...], output: str | None, quiet: bool, project: str | None, no_project: bool, **chosen: Any
) -> int:
    """Write the findings in PATHs to a file of accepted findings; `xlalint` reports from then on what is not in it.

    Without a PATH it is the working directory. What the file has of other paths stays in it.
    """
    from xlalint.findings.hiding import Accepting

    configured = configurations(chosen)
    named = check.named_paths(paths or (".",))
    how = check.Output("text", None, "never", False, quiet, False, False, False, False)
    reading = check.Reading(opened(quiet=quiet), project, no_project)
    report = check.linted(named, configured, None, reading, how)
    check.complain_of(report, None, how, named)
    if report.named_missing:
        return FAILED
    for file, entries in sorted(Accepting(configured, output).renewed(report, [str(path) for path in named]).items()):
        if (entries or os.path.exists(file)) and not _written(file, entries, quiet=quiet):
            return FAILED
    if not quiet and not any(one.suppressed is None for one in report.diagnostics):
        say("Nothing is found: there is nothing to accept.\n")
    return FAILED if any(one.internal for one in report.skipped) else 0


def _written(file: str, entries: tuple[Entry, ...], *, quiet: bool) -> bool:
    from xlalint.findings.baseline import baseline_text
    from xlalint.reports.summary import plural
    from xlalint.sources.discover import shown

    try:
        Path(file).write_text(baseline_text(entries), encoding="utf-8", newline="\n")
    except OSError as error:
        complain("error", f"{shown(file)}: {error.strerror or error}")
        return False
    if not quiet:
        files = plural(len({entry.path for entry in entries}), "file")
        say(f"{shown(file)}: {plural(len(entries), 'finding')} in {files} accepted.\n")
    return True
