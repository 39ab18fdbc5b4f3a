"""``xlalint check --add-ignores``: a suppression comment for each finding."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from xlalint.cli.console import complain, say
from xlalint.cli.entry import FAILED

if TYPE_CHECKING:
    from xlalint.findings.model import Diagnostic, Report

DEFAULT_REASON = "accepted for now"


def one_line(_: click.Context, __: click.Parameter, reason: str) -> str:
    if not reason.isprintable() or "#" in reason:
        raise click.BadParameter("a reason is one line without `#`")
    return reason.strip()


def add_ignores(report: Report, reason: str, *, quiet: bool) -> int:
    """Write a comment for each finding that none silences; 2 where one could not be written."""
    from xlalint.reports.summary import plural

    if report.named_missing:
        return FAILED
    by_path: dict[str, list[Diagnostic]] = {}
    for one in report.diagnostics:
        if one.suppressed is None:
            by_path.setdefault(one.path, []).append(one)
    written = {path: _silenced(path, findings, reason) for path, findings in by_path.items()}
    added, files = sum(count or 0 for count in written.values()), sum(bool(count) for count in written.values())
    if not quiet:
        say(f"{plural(added, 'finding')} silenced in {plural(files, 'file')}.\n")
    left = sum(map(len, by_path.values())) - added
    return FAILED if left or any(one.internal for one in report.skipped) else 0


def _silenced(path: str, findings: list[Diagnostic], reason: str) -> int:
    """How many findings of one file have a comment now."""
    from xlalint.edits.ignores import with_ignores, write_source
    from xlalint.sources.read import read
    from xlalint.sources.source import Unreadable

    try:
        source = read(Path(path), limit_mb=10**6)
        silenced = with_ignores(source, findings, reason)
        if silenced.text != source.text:
            write_source(path, source, silenced.text)
    except Unreadable as error:
        complain("error", f"{path} {error}")
        return 0
    except UnicodeEncodeError:
        complain("error", f"{path}: the reason can't be written in the encoding of the file")
        return 0
    except OSError as error:
        complain("error", f"{path}: {error.strerror or error}")
        return 0
    for one in silenced.left:
        complain("warning", f"{one.path}:{one.at.line}: no comment can stand here that silences {one.code}")
    return silenced.added
