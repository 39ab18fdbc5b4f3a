"""``xlalint rule``: the list of rules, or the page of one."""

from __future__ import annotations

import os
from typing import Any

import click

from xlalint.cli.console import say
from xlalint.cli.options import TERMS, GivenPath, configurations


@click.command("rule", short_help="Show the page of a rule, or the list of rules.", epilog=TERMS)
@click.argument("rule", required=False)
@click.option("--config", type=GivenPath(), help="Configuration that names plugins.", default=None)
@click.option("--isolated", is_flag=True, help="Use no configuration file.")
def command(rule: str | None, **chosen: Any) -> int:
    """Show the page of RULE (a code or a name), or without one the list of all rules."""
    plugins = configurations(chosen).of_folder(os.getcwd()).settings.plugins
    say(_page(rule, plugins) if rule is not None else _table(plugins))
    return 0


def _page(name: str, plugins: tuple[str, ...]) -> str:
    from xlalint.findings.errors import nearest
    from xlalint.findings.registry import find, listed, page_of
    from xlalint.findings.suppression import UNUSED, UNUSED_PAGE

    if name.upper() == UNUSED.code or name.lower() == UNUSED.name:
        return UNUSED_PAGE
    rules = listed(plugins)
    found = find(name, rules)
    if found is None:
        known = [word for one in rules for word in (one.code, one.name)]
        raise click.UsageError(f"no rule `{name}`{nearest(name, known)}")
    return page_of(found)


def _table(plugins: tuple[str, ...]) -> str:
    from xlalint.findings.registry import load_rules
    from xlalint.findings.suppression import UNUSED

    rules = sorted((UNUSED, *(loaded.rule for loaded in load_rules(plugins))), key=lambda rule: rule.code)
    name_width = max(len(rule.name) for rule in rules)
    family_width = max(len(rule.family) for rule in rules)
    rows = []
    for rule in rules:
        row = f"{rule.code}  {rule.name:<{name_width}}  {rule.family:<{family_width}}  {rule.severity.name.lower()}"
        rows.append(row if rule.default else f"{row} (off by default)")
    return "".join(f"{row}\n" for row in rows)
