"""``xlalint completion SHELL``: the script that lets a shell complete the command line."""

from __future__ import annotations

import click

from xlalint.cli.console import say

_VARIABLE = "_XLALINT_COMPLETE"
"""Click's own name for the command ``xlalint``: the script sets it, and asks the command."""


@click.command("completion", short_help="Write the completion script of a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> int:
    """Write the script that lets SHELL complete commands, options and paths.

    \b
    bash: xlalint completion bash > ~/.local/share/bash-completion/completions/xlalint
    zsh:  xlalint completion zsh > a file that ~/.zshrc reads with `source`, after `compinit`
    fish: xlalint completion fish > ~/.config/fish/completions/xlalint.fish
    """
    from click.shell_completion import get_completion_class

    kind = get_completion_class(shell)
    assert kind is not None
    complete = kind(ctx.find_root().command, {}, "xlalint", _VARIABLE)
    # The template without the look at the version of the shell, which only `source` takes.
    say(complete.source_template % complete.source_vars() + "\n")
    return 0
