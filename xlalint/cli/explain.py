"""``xlalint explain FILE:LINE``: why a line is flagged, or is not."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from xlalint.cli.console import say
from xlalint.cli.options import configurations, settings_options

if TYPE_CHECKING:
    from xlalint.facts.assumptions import Assumptions
    from xlalint.sources.source import Source

Explain = Callable[["Source", int, "Assumptions"], str]


def _place(_: click.Context, __: click.Parameter, value: str) -> tuple[Path, int]:
    """``FILE:LINE``, the line counted from 1; a column after it is accepted and not needed."""
    parts = value.split(":")
    while len(parts) > 2 and parts[-1].isdigit() and parts[-2].isdigit():
        parts.pop()
    path, line = ":".join(parts[:-1]), parts[-1]
    if not path or not line.isascii() or not line.isdigit() or int(line) == 0:
        raise click.BadParameter(f"`{value}` is not of the form FILE:LINE")
    return Path(path), int(line)


@click.command("explain", short_help="Say why a line is flagged, or is not.")
@click.argument("place", callback=_place, metavar="FILE:LINE")
@settings_options
def command(place: tuple[Path, int], **chosen: Any) -> int:
    """Show what is known at FILE:LINE: values, how often it runs, guards, and the chain of reasons."""
    from xlalint.linting import assumptions_of
    from xlalint.sources.discover import shown
    from xlalint.sources.read import read
    from xlalint.sources.source import Unreadable

    path, line = place
    configuration = configurations(chosen).of_file(str(path))
    try:
        source = read(path, shown(str(path)), configuration.settings.max_file_size)
    except Unreadable as error:
        raise click.ClickException(f"{path}: {error}") from error
    if line > len(source.lines()):
        raise click.ClickException(f"{path}: there is no line {line}, only {len(source.lines())}")
    explain = cast(Explain, import_module("xlalint.facts.explain").explain)
    text = explain(source, line, assumptions_of(configuration))
    say(text if text.endswith("\n") else f"{text}\n")
    return 0
