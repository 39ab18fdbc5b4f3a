"""What of a trace makes the exit code 1: the options, and how a run is judged by them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from xlalint.cli.console import complain
from xlalint.cli.options import Command, GivenPath

if TYPE_CHECKING:
    from xlalint.device.trace.budget import Budget
    from xlalint.device.trace.conditions import Condition
    from xlalint.device.trace.confirmation import TraceReport

_OPTIONS = (
    click.option(
        "--fail-on",
        metavar="CONDITION",
        multiple=True,
        help="Exit with 1 where it holds: 'compiles > 0 after step 3', 'reads > 1 a step'.",
    ),
    click.option("--budget", type=GivenPath(dir_okay=False), help="Exit with 1 where a step costs more than in it."),
    click.option("--update-budget", is_flag=True, help="Write what the run costs to the file of --budget."),
)


def options(command: Command) -> Command:
    """The command gives them to ``Guard.of``."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


class Guard(NamedTuple):
    conditions: tuple[Condition, ...]
    path: Path | None
    budgets: dict[str, Budget]
    update: bool

    @classmethod
    def of(cls, chosen: dict[str, Any]) -> Guard:
        """Takes its options out of ``chosen``; refuses what is wrong before a program runs."""
        texts, path, update = chosen.pop("fail_on"), chosen.pop("budget"), chosen.pop("update_budget")
        if update and path is None:
            raise click.UsageError("--update-budget needs --budget FILE")
        return cls(_conditions(texts), Path(path) if path else None, _budgets(path, update), update)

    def judge(self, reports: list[TraceReport]) -> int:
        """The exit code; what is exceeded is told on standard error."""
        failed = self._meets_conditions(reports)
        if self.path is None:
            return int(failed)
        from xlalint.device.trace.budget import NoBudget, budget_of, is_below, mode_of, over, write_budget

        if self.update:
            new = {mode_of(report.trace.mode): budget_of(report) for report in reports}
            try:
                write_budget(self.path, {**self.budgets, **new})
            except NoBudget as error:
                raise click.ClickException(str(error)) from error
            return int(failed)
        for report in reports:
            budget = self.budgets.get(mode_of(report.trace.mode))
            if budget is None:
                complain(
                    "error", f"{self.path}: nothing about {mode_of(report.trace.mode)} mode; --update-budget adds it"
                )
                failed = True
                continue
            for text in over(budget, report):
                complain("error", f"{self.path}: {text}")
                failed = True
            if not failed and is_below(budget, report):
                complain("note", f"{self.path}: the run costs less; --update-budget lowers it")
        return int(failed)

    def _meets_conditions(self, reports: list[TraceReport]) -> bool:
        if not self.conditions:
            return False
        from xlalint.device.trace.conditions import met

        told = [(one, text) for one in self.conditions for report in reports for text in met(one, report.trace)]
        for one, text in told:
            complain("error", f"{one.text}: {text}")
        return bool(told)


def _conditions(texts: tuple[str, ...]) -> tuple[Condition, ...]:
    if not texts:
        return ()
    from xlalint.device.trace.conditions import NoCondition, condition

    try:
        return tuple(condition(text) for text in texts)
    except NoCondition as error:
        raise click.UsageError(str(error)) from error


def _budgets(path: str | None, update: bool) -> dict[str, Budget]:
    if path is None or (update and not Path(path).exists()):
        return {}
    from xlalint.device.trace.budget import NoBudget, read_budget

    try:
        return read_budget(Path(path))
    except NoBudget as error:
        raise click.ClickException(str(error)) from error
