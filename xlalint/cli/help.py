"""``xlalint help``: the commands, or the help of one."""

from __future__ import annotations

import click

from xlalint.cli.console import say


@click.command("help", short_help="Show the commands, or the help of one.")
@click.argument("name", required=False, metavar="[COMMAND]")
@click.pass_context
def command(ctx: click.Context, name: str | None) -> int:
    """Show what COMMAND does and its options, or without one the list of all commands."""
    from xlalint.findings.errors import nearest

    parent = ctx.parent
    assert parent is not None
    group = parent.command
    assert isinstance(group, click.Group)
    if name is None:
        say(parent.get_help() + "\n")
        return 0
    found = group.get_command(parent, name)
    if found is None:
        raise click.UsageError(f"no command `{name}`{nearest(name, group.list_commands(parent))}")
    with click.Context(found, parent=parent, info_name=name) as inner:
        say(found.get_help(inner) + "\n")
    return 0
