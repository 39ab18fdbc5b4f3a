"""The options that commands share, and the configuration that results from them."""

from __future__ import annotations

import ast
import math
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from xlalint.findings.configuration import Configurations

Command = TypeVar("Command", bound=Callable[..., Any])

TERMS = "docs/glossary.md explains step boundary, heat, certainty and the other terms of a report."
"""The last line of the help of each command that prints these terms."""
_LEVELS = ("note", "warning", "error")
_CHOICES_OF_RULES = ("select", "extend_select", "ignore", "exclude", "extend_exclude")


class GivenPath(click.Path):
    """A path that is not empty, as that of a variable which is not set."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("the path is empty", param, ctx)
        return super().convert(value, param, ctx)


class ReportPath(GivenPath):
    """Where a report goes: `-o train.py` without a file for the report would write it over the program."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if str(value).endswith((".py", ".pyi", ".ipynb")):
            self.fail(f"{value} is source, and a report would be written over it", param, ctx)
        return super().convert(value, param, ctx)


class Seconds(click.FloatRange):
    """A time from a second to a day."""

    def __init__(self) -> None:
        super().__init__(1, 86_400)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        seconds = super().convert(value, param, ctx)
        if math.isnan(seconds):
            self.fail(f"{value} is no number of seconds", param, ctx)
        return seconds


def paths_complete(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """What the shell completes a path to."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(incomplete, type="file")]


def joined(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...] | None:
    """``A,B`` gives ("A", "B"), and so does the option given twice; None where it was not given at all."""
    if not values:
        return None
    return tuple(word.strip() for value in values for word in value.split(",") if word.strip())


def joined_some(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> tuple[str, ...] | None:
    """The same of an option that chooses what is done at all: with nothing in it, nothing would be."""
    found = joined(context, option, values)
    if found == ():
        raise click.BadParameter("it names nothing")
    return found


def given_values(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    """``NAME=EXPR``, of which the second is Python."""
    found: dict[str, str] = {}
    for value in values:
        name, sign, text = value.partition("=")
        if not sign or not name.strip():
            raise click.BadParameter(f"{value!r} is not of the form NAME=EXPR")
        try:
            ast.parse(text.strip(), mode="eval")
        except (SyntaxError, ValueError):
            raise click.BadParameter(f"{text.strip()!r} is no Python expression") from None
        found[name.strip().lstrip("-").replace("-", "_")] = text.strip()
    return found


def _list_option(name: str, text: str, callback: Callable[..., Any] = joined) -> Callable[[Command], Command]:
    return click.option(name, metavar="LIST", multiple=True, callback=callback, help=text)


SETTINGS = (
    _list_option("--select", "Rules to use: codes, prefixes, names, families or ALL.", joined_some),
    _list_option("--extend-select", "Further rules to use."),
    _list_option("--ignore", "Rules not to use."),
    _list_option("--exclude", "Path patterns to exclude, in place of the defaults."),
    _list_option("--extend-exclude", "Further path patterns to exclude."),
    click.option("--force-exclude", is_flag=True, default=None, help="Exclude files that are named explicitly too."),
    click.option(
        "--mode",
        type=click.Choice(["lazy", "dynamo", "eager", "all"]),
        help="Execution mode whose costs are reported. [default: lazy]",
    ),
    click.option(
        "--min-certainty",
        type=click.Choice(["possible", "likely", "certain"]),
        help="Lowest certainty to report (docs/glossary.md#certainty). [default: likely]",
    ),
    click.option("--fail-on", type=click.Choice(_LEVELS), help="Least level for exit code 1. [default: warning]"),
    click.option("--assume-xla", is_flag=True, default=None, help="Treat all code as code that runs on XLA."),
    click.option("--profile", type=GivenPath(), help="Device profile that `xlalint calibrate` wrote."),
    click.option("--follow/--no-follow", default=None, help="Analyse calls into installed packages. [default: follow]"),
    click.option("--python", type=GivenPath(), help="Interpreter or environment whose packages are analysed."),
    click.option("--jobs", "-j", type=click.IntRange(0), help="Processes; 0: one for each core."),
    click.option("--config", type=GivenPath(), help="Use this configuration file and no other."),
    click.option("--isolated", is_flag=True, help="Use no configuration file."),
)


PROJECT = (
    click.option(
        "--project",
        type=click.Path(exists=True, file_okay=False),
        metavar="DIR",
        help="Folder of the project that the files belong to. [default: that of the nearest configuration, "
        "pyproject.toml or version control]",
    ),
    click.option("--no-project", is_flag=True, help="Read the named files and their imports, not their project."),
)


def project_options(command: Command) -> Command:
    """The options of ``PROJECT``."""
    for option in reversed(PROJECT):
        command = option(command)
    return command


def settings_options(command: Command) -> Command:
    """All options of ``SETTINGS``; the command takes them as ``**chosen`` and gives them to ``configurations``."""
    for option in reversed(SETTINGS):
        command = option(command)
    return command


def configurations(chosen: dict[str, Any]) -> Configurations:
    """Where settings are looked up, with the command line over them. Raises ``ConfigurationError``."""
    from xlalint.findings.configuration import Configurations, load_configuration, refuse_without_packages
    from xlalint.findings.settings import COMMAND_LINE, CommandLine, Configuration, defaults

    config, isolated = chosen.pop("config"), chosen.pop("isolated")
    if config is not None and isolated:
        raise click.UsageError("--config and --isolated exclude each other")
    given = {name: value for name, value in chosen.items() if value is not None}
    for name in {"profile", "python"} & given.keys():
        # In a file it starts from the folder of the file.
        given[name] = os.path.abspath(os.path.expanduser(given[name]))
    if "python" in given and given.get("follow", True):
        refuse_without_packages(given["python"], COMMAND_LINE)
    line = CommandLine(**{name: given.pop(name) for name in _CHOICES_OF_RULES if name in given})

    def adjusted(configuration: Configuration) -> Configuration:
        return configuration.with_command_line(given, line)

    if config is not None:
        return Configurations(adjusted, fixed=load_configuration(os.path.abspath(config)))
    return Configurations(adjusted, fixed=defaults() if isolated else None)
