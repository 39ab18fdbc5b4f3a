"""``xlalint rule``: the list of rules, those that a selector names, or the page of one."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from xlalint.cli.console import say
from xlalint.cli.options import TERMS, GivenPath, configurations

if TYPE_CHECKING:
    from xlalint.findings.model import Rule


@click.command("rule", short_help="Show the page of a rule, or the list of rules.", epilog=TERMS)
@click.argument("rule", required=False)
@click.option(
    "--output-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Form of the output.",
)
@click.option("--config", type=GivenPath(), help="Configuration that names plugins.", default=None)
@click.option("--isolated", is_flag=True, help="Use no configuration file.")
def command(rule: str | None, output_format: str, **chosen: Any) -> int:
    """Show the page of RULE (a code or a name), the list of the rules that RULE begins or whose family it is (`XLA1`,
    `host-transfer`), or without one the list of all."""
    plugins = configurations(chosen).of_folder(os.getcwd()).settings.plugins
    rules = _rules_meant(rule, plugins)
    is_json = output_format == "json"
    if is_json:
        say(_as_json(rules, plugins), utf8=True)
    else:
        say(_page(rules[0].code, plugins) if rule is not None and _is_name_of(rule, rules) else _table(rules))
    return 0


def _rules_meant(name: str | None, plugins: tuple[str, ...]) -> list[Rule]:
    """The rules that are meant. Raises ``UsageError`` where there are none."""
    from xlalint.findings.errors import nearest
    from xlalint.findings.registry import load_rules
    from xlalint.findings.selection import specificity
    from xlalint.findings.suppression import UNUSED

    rules = sorted((UNUSED, *(loaded.rule for loaded in load_rules(plugins))), key=lambda rule: rule.code)
    if name is None:
        return rules
    exact = [rule for rule in rules if _is_name_of(name, [rule])]
    found = exact or [rule for rule in rules if specificity(name, rule) is not None]
    if not found:
        known = dict.fromkeys(word for one in rules for word in (one.code, one.name, one.family))
        raise click.UsageError(f"no rule `{name}`{nearest(name, known)}")
    return found


def _is_name_of(name: str, rules: Sequence[Rule]) -> bool:
    return len(rules) == 1 and (name.upper() == rules[0].code or name.lower() == rules[0].name)


def _page(code: str, plugins: tuple[str, ...]) -> str:
    from xlalint.findings.registry import find, listed, page_of
    from xlalint.findings.suppression import UNUSED, UNUSED_PAGE

    if code == UNUSED.code:
        return UNUSED_PAGE
    found = find(code, listed(plugins))
    assert found is not None
    return page_of(found)


def _as_json(rules: Sequence[Rule], plugins: tuple[str, ...]) -> str:
    from xlalint.cli.rendering import first_paragraph
    from xlalint.findings.model import Mode
    from xlalint.findings.registry import RegistryError

    told = []
    for rule in rules:
        try:
            page = _page(rule.code, plugins)
        except RegistryError:  # a plugin's, without a page
            page = ""
        told.append(
            {
                "code": rule.code,
                "name": rule.name,
                "family": rule.family,
                "severity": rule.severity.name.lower(),
                "default": rule.default,
                "modes": [mode.value for mode in Mode if mode in rule.modes],
                "summary": first_paragraph(page),
                "page": page,
            }
        )
    return json.dumps(told, indent=2, ensure_ascii=False) + "\n"


def _table(rules: Sequence[Rule]) -> str:
    name_width = max(len(rule.name) for rule in rules)
    family_width = max(len(rule.family) for rule in rules)
    rows = []
    for rule in rules:
        row = f"{rule.code}  {rule.name:<{name_width}}  {rule.family:<{family_width}}  {rule.severity.name.lower()}"
        rows.append(row if rule.default else f"{row} (off by default)")
    return "".join(f"{row}\n" for row in rows)
