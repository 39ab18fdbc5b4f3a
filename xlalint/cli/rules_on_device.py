"""``xlalint validate --rules``: the rules' own experiments, on this device."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from xlalint.cli.console import say
from xlalint.cli.sandbox import Sandbox, guard

if TYPE_CHECKING:
    from xlalint.findings.registry import Listed


def run_rules(names: tuple[str, ...], sandbox: Sandbox) -> int:
    """Say of each rule whether its claims hold here; 1 where one does not."""
    from xlalint.device.calibration.page_figures import disagreements, measure_page
    from xlalint.device.worker.experiment import WorkerError
    from xlalint.findings.pages import parse_page
    from xlalint.findings.registry import is_own, page_of

    wrong = 0
    rules = tuple(chosen_rules(names))
    try:
        with guard(sandbox, [], own=all(map(is_own, rules))).worker() as worker:
            versions = worker.versions
            say(f"torch {versions.torch}, torch_xla {versions.torch_xla}, {versions.device} device\n")
            for rule in rules:
                results = measure_page(parse_page(page_of(rule)), worker)
                against = list(disagreements(results))
                wrong += bool(against)
                modes = ", ".join(dict.fromkeys(result.mode.value for result in results))
                say(f"{rule.code} {rule.name}: {'does not hold' if against else 'holds'} ({modes})\n")
                say("".join(f"    {line}\n" for line in against))
    except WorkerError as error:
        raise click.ClickException(f"{error}: `pip install 'xlalint[device]'` brings torch and torch_xla") from error
    return 1 if wrong else 0


def chosen_rules(names: tuple[str, ...]) -> Iterator[Listed]:
    """The rules of these codes or names, without names all; those of plugins that the working directory's configuration
    has are among them. Raises ``UsageError``.

    A profile plays no part: it is what comes of running them.
    """
    from xlalint.findings.configuration import Configurations
    from xlalint.findings.errors import nearest
    from xlalint.findings.registry import find
    from xlalint.findings.settings import Configuration
    from xlalint.linting import listed_rules

    def without_profile(found: Configuration) -> Configuration:
        return found.with_command_line({"profile": None}, found.command_line)

    rules = listed_rules(Configurations(without_profile).of_folder(os.getcwd()))
    for name in names:
        found = find(name, rules)
        if found is None:
            known = [word for one in rules for word in (one.code, one.name)]
            raise click.UsageError(f"no rule `{name}`{nearest(name, known)}")
        yield found
    if not names:
        yield from rules
