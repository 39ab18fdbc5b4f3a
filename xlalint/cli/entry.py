"""The command ``xlalint``: finds the subcommand, and turns every failure into one line and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, NoReturn

import click

from xlalint.cli.console import complain, flush_or_drop, say, to_nowhere

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

FAILED = 2
"""The tool could not do what was asked."""
INTERRUPTED = 130
"""Ctrl-C, as shells have it."""

# By name: `xlalint rule` must not pay for what `check` imports.
COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "baseline": "xlalint.cli.baseline",
        "calibrate": "xlalint.cli.calibrate",
        "check": "xlalint.cli.check",
        "clean": "xlalint.cli.clean",
        "completion": "xlalint.cli.completion",
        "explain": "xlalint.cli.explain",
        "help": "xlalint.cli.help",
        "init": "xlalint.cli.init",
        "new-rule": "xlalint.cli.new_rule",
        "rule": "xlalint.cli.rule",
        "trace": "xlalint.cli.trace",
        "validate": "xlalint.cli.validate",
    }
)
_OWN_OPTIONS = frozenset({"--help", "-h", "--version", "-V"})


class Commands(click.Group):
    """Subcommands are imported when they are called; without the name of one it is ``check``."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(COMMANDS[cmd_name]).command
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in COMMANDS and args[0] not in _OWN_OPTIONS:
            if not ctx.resilient_parsing:
                _refuse_misspelt(args[0])
            args = ["check", *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """The first word may be a command, or a path or an option of ``check``."""
        from click.shell_completion import CompletionItem

        found = super().shell_complete(ctx, incomplete)
        if incomplete.startswith("-"):
            check = self.get_command(ctx, "check")
            assert check is not None
            return found + check.shell_complete(
                check.make_context("check", [], ctx, resilient_parsing=True), incomplete
            )
        return found or [CompletionItem(incomplete, type="file")]


def _refuse_misspelt(word: str) -> None:
    """Raises ``UsageError`` for what is no path and nearly a command: else it would be told when all is linted."""
    if word.startswith("-") or os.path.lexists(word) or not word.replace("-", "").isalpha():
        return
    from difflib import get_close_matches

    close = get_close_matches(word.lower(), COMMANDS, 1, 0.7)
    if close:
        raise click.UsageError(f"no command and no path `{word}`; did you mean `{close[0]}`?")


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        say(f"xlalint {version('xlalint')}\n")
        ctx.exit()


@click.group(
    cls=Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="`xlalint PATH` is short for `xlalint check PATH`.",
)
@click.option(
    "--version",
    "-V",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version.",
)
@click.pass_context
def xlalint(ctx: click.Context) -> None:
    """The linter for PyTorch on XLA: finds the lines that cost on TPU and Trainium, and explains why."""
    if ctx.invoked_subcommand is None:
        say(ctx.get_help() + "\n")


def run() -> NoReturn:
    """Run the command line and end the process. After success it ends at once: freeing the memory of a large run
    object by object costs a second or two."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us: `>&-`
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 it stays open to the end
    code = main()
    flush_or_drop(sys.stdout)
    flush_or_drop(sys.stderr)
    if code in (FAILED, INTERRUPTED):
        sys.exit(code)
    os._exit(code)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 nothing found, 1 findings, 2 failed. Never raises."""
    try:
        code = xlalint.main(
            args=list(arguments) if arguments is not None else None, prog_name="xlalint", standalone_mode=False
        )
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        complain("error", error.format_message())
        return FAILED
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        to_nowhere(sys.stdout)
        return FAILED
    except Exception as error:  # the last resort: a traceback is never shown unless it is asked for
        return _failed(error)


def _failed(error: Exception) -> int:
    if os.environ.get("XLALINT_TRACEBACK"):
        import traceback

        traceback.print_exc()
    complain("error", _error_message(error))
    return FAILED


def _error_message(error: Exception) -> str:
    if isinstance(error, OSError):
        return _refused(error)
    if isinstance(error, MemoryError):
        return "there is not enough memory"
    if _is_expected(error):
        return str(error)
    return f"internal error: {type(error).__name__}: {error} (XLALINT_TRACEBACK=1 shows where)"


def _refused(error: OSError) -> str:
    """What the system does not do, it does not do for anyone: no error of ours."""
    try:
        os.getcwd()
    except OSError as gone:
        return f"the working directory: {gone.strerror}"
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if isinstance(error.filename, str) else reason


def _is_expected(error: Exception) -> bool:
    """Whether the message is meant for the user as it is."""
    from xlalint.findings.errors import ConfigurationError
    from xlalint.findings.registry import RegistryError

    return isinstance(error, (ConfigurationError, RegistryError))
