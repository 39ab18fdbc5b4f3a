"""The options that leave findings out of a report: a baseline, and a revision of git."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from xlalint.cli.options import GivenPath

if TYPE_CHECKING:
    from xlalint.findings.configuration import Configurations
    from xlalint.findings.model import Report

Command = TypeVar("Command", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--baseline",
        type=GivenPath(exists=True, dir_okay=False),
        metavar="FILE",
        help="Hide the findings that this file accepts. [default: xlalint-baseline.txt beside the configuration]",
    ),
    click.option("--no-baseline", is_flag=True, help="Report what a baseline accepts, too."),
    click.option(
        "--diff-against",
        metavar="REV",
        help="Report only findings on lines that changed since this revision of git; `REV...`: since it branched off.",
    ),
)
# What leaves rules out, or findings of them: then an entry of a baseline may be there and not be found.
_CHOICES = ("select", "extend_select", "ignore", "mode", "min_certainty", "profile", "assume_xla", "follow", "python")


def hiding_options(command: Command) -> Command:
    """The command takes them in ``**chosen``, and gives that to ``Hiding.of``."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


class Hiding(NamedTuple):
    baseline: str | None
    no_baseline: bool
    diff_against: str | None
    all_rules: bool = True

    @classmethod
    def of(cls, chosen: dict[str, Any]) -> Hiding:
        """Takes its options out of ``chosen``; what stays are settings."""
        given = cls(*(chosen.pop(name) for name in ("baseline", "no_baseline", "diff_against")))
        if given.baseline is not None and given.no_baseline:
            raise click.UsageError("--baseline and --no-baseline exclude each other")
        return given._replace(
            all_rules=all(chosen.get(name) is None for name in _CHOICES), no_baseline=given.no_baseline
        )

    def without_default(self, isolated: bool) -> Hiding:
        """``--isolated`` reads no file that is not named."""
        return self._replace(no_baseline=self.no_baseline or (isolated and self.baseline is None))

    def applied(self, report: Report, configured: Configurations, paths: Sequence[str]) -> Report:
        """The report without what is hidden. Raises ``ConfigurationError``."""
        from xlalint.findings.hiding import Accepting, on_changed_lines

        if not self.no_baseline:
            report = Accepting(configured, self.baseline).hide(report, paths, all_rules=self.all_rules)
        if self.diff_against is not None:
            report = on_changed_lines(report, self.diff_against, paths)
        return report
