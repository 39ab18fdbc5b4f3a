"""``xlalint new-rule``: the files of a new rule, in a checkout of this project."""

from __future__ import annotations

import os
from pathlib import Path

import click

from xlalint.cli.console import say


@click.command("new-rule", short_help="Begin a rule, in a checkout of xlalint.")
@click.argument("code")
@click.argument("name")
def command(code: str, name: str) -> int:
    """Write the module and the page of a rule with CODE and NAME, and its line in the change log.

    For who works on xlalint: the working directory must be a checkout. CODE is free and begins with the digit of its
    family (XLA605), NAME says the bad thing (double-precision). The figures of the page come from a run on a device.
    """
    from xlalint.findings.rule_template import TemplateError, begin_rule

    try:
        written = begin_rule(Path(os.getcwd()), code.upper(), name)
    except TemplateError as error:
        raise click.UsageError(str(error)) from error
    say("".join(f"wrote {path}\n" for path in written.paths) + f"\n{written.next_steps}")
    return 0
