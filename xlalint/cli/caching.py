"""The options of the cache, and the run that is looked up in it before it is made."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from xlalint.cli.console import complain
from xlalint.cli.options import GivenPath

if TYPE_CHECKING:
    from xlalint.cache.folder import CacheFolder
    from xlalint.findings.model import Report
    from xlalint.sources.observations import Observations
    from xlalint.unchanged import Question

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--no-cache", is_flag=True, help="Read and write no cache."),
    click.option("--cache-dir", type=GivenPath(file_okay=False), metavar="DIR", help="Folder of the cache."),
    click.option(
        "--cache-by",
        type=click.Choice(["time", "hash"]),
        default="time",
        show_default=True,
        help="Whether files of the same size and times are taken for unchanged, or all are compared by content.",
    ),
)


def cache_options(command: Command) -> Command:
    """The command takes them in ``**chosen``, and gives that to ``Choice.of``."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


class Choice(NamedTuple):
    """The cache that is asked for."""

    no_cache: bool
    cache_dir: str | None
    cache_by: str

    @classmethod
    def of(cls, chosen: dict[str, Any]) -> Choice:
        """Takes its options out of ``chosen``; what stays are settings."""
        return cls(*(chosen.pop(name) for name in cls._fields))

    def open(self, *, quiet: bool, verbose: bool) -> Cache:
        folder = None if self.no_cache else opened(self.cache_dir, quiet=quiet)
        return Cache(folder, self.cache_by == "time", quiet, verbose)


class Cache(NamedTuple):
    """Where runs are kept; ``folder`` None: nowhere."""

    folder: CacheFolder | None
    by_time: bool
    quiet: bool
    verbose: bool

    def report(self, question: Callable[[], Question], seen: Observations, run: Callable[[], Report]) -> Report:
        """The report that is kept of a run that would see the same, or that of this run; ``seen`` grows as it runs."""
        # Where a bug is looked for, nothing is taken from the cache.
        if self.folder is None or os.environ.get("XLALINT_TRACEBACK"):
            return run()
        from xlalint.cache.folder import Unusable
        from xlalint.unchanged import Runs

        runs, key = Runs(self.folder, by_time=self.by_time), question().key()
        told = ""
        try:
            report = runs.recall(key)
        except Unusable as error:
            report, told = None, str(error)
        if report is not None:
            if self.verbose:
                complain("note", "nothing has changed since the run that is kept in the cache")
            return report
        report = run()
        try:
            runs.keep(key, seen, report)
        except Unusable as error:
            told = told or str(error)
        _tell(told, quiet=self.quiet)
        return report


def opened(path: str | None = None, *, quiet: bool = False) -> CacheFolder | None:
    """The folder that is named, or the default one; None where it can't be used, which is told once."""
    from xlalint.cache.folder import CacheFolder, Unusable, default_folder

    try:
        return CacheFolder(os.path.abspath(path) if path is not None else default_folder())
    except Unusable as error:
        _tell(str(error), quiet=quiet)
        return None


def _tell(notice: str, *, quiet: bool) -> None:
    if notice and not quiet:
        complain("warning", notice)
