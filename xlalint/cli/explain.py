"""``xlalint explain FILE:LINE [PATH]…``: explains why a line is flagged, or is not."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
import msgspec

from xlalint.cli.console import complain, say
from xlalint.cli.options import TERMS, configurations, paths_complete, project_options, settings_options

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from xlalint.facts.driver.workspace import Around
    from xlalint.facts.options import Assumptions
    from xlalint.findings.configuration import Configurations
    from xlalint.findings.model import Diagnostic
    from xlalint.findings.settings import Configuration
    from xlalint.inputs import Input
    from xlalint.sources.source import Source

_LINE = re.compile(r"0*[1-9]\d{0,17}", re.ASCII)
Explain = Callable[["Source", int, Callable[[str], "Assumptions"], "Sequence[Source]", "Around"], str]


def _place(_: click.Context, __: click.Parameter, value: str) -> tuple[Path, int]:
    """``FILE:LINE``, the line counted from 1; a column after it is accepted and not needed."""
    parts = value.split(":")
    while len(parts) > 2 and parts[-1].isdigit() and parts[-2].isdigit():
        parts.pop()
    path, line = ":".join(parts[:-1]), parts[-1]
    if not path or not _LINE.fullmatch(line):
        raise click.BadParameter(f"`{value}` is not of the form FILE:LINE")
    return Path(path), int(line)


@click.command("explain", short_help="Say why a line is flagged, or is not.", epilog=TERMS)
@click.argument("place", callback=_place, metavar="FILE:LINE")
@click.argument("paths", nargs=-1, metavar="[PATH]...", shell_complete=paths_complete)
@settings_options
@project_options
def command(
    place: tuple[Path, int], paths: tuple[str, ...], project: str | None, no_project: bool, **chosen: Any
) -> int:
    """Show what is known at FILE:LINE: values, how often it runs, guards, and the chain of reasons.

    It is what `check` over FILE and the PATHs finds there: what they import and what of their project leads to them is
    read, for a caller elsewhere may run the line more often, or give it other values.
    """
    from xlalint.cache.folder import default_cache
    from xlalint.inputs import gather
    from xlalint.linting import Followers

    path, line = place
    configured = configurations(chosen)
    configured.refuse_missing_packages(str(path))
    source = _source(path, line, configured)
    if "" in paths:
        raise click.UsageError("a path is empty")
    given = gather([path, *map(Path, paths)], configured, None, project, alone=no_project)
    for each in given.missing:
        # A path that is there and can't be reached brings its reason in brackets.
        raise click.ClickException(each if each.endswith(")") else f"{each}: no such file or folder")
    engine = import_module("xlalint.facts.explain.explanation")
    try:
        explain = cast(Explain, engine.explain)
        text = explain(source, line, Followers(configured, default_cache()).assumptions, given.sources, given.around)
    except engine.Unexplained as error:
        raise click.ClickException(f"{path}: {error}") from error
    say(text + "".join(f"{row}\n" for row in _verdict(source, line, given, configured)))
    for remark in given.remarks:
        complain("warning", remark)
    return 0


def _source(path: Path, line: int, configured: Configurations) -> Source:
    from xlalint.sources.discover import shown
    from xlalint.sources.read import read
    from xlalint.sources.source import Unreadable

    try:
        source = read(path, shown(str(path)), configured.of_file(str(path)).settings.max_file_size)
    except Unreadable as error:
        raise click.ClickException(f"{path}: {error}") from error
    if line > len(source.lines()):
        raise click.ClickException(f"{path}: there is no line {line}, only {len(source.lines())}")
    return source


def _verdict(source: Source, line: int, given: Input, configured: Configurations) -> Iterator[str]:
    """The findings of the line, with this configuration and with one that selects everything."""
    from xlalint.findings.configuration import Configurations

    yield "  findings"
    configuration = configured.of_file(source.path)
    everything = {"select": ("ALL",), "ignore": (), "min_certainty": "possible", "mode": "all", "per_file_ignores": {}}
    lenient = configuration.with_command_line(everything, type(configuration.command_line)())
    found, more = _found(source, line, given, configured, Configurations(fixed=lenient))
    for one in found:
        silenced = f", silenced by `{one.suppressed}`" if one.suppressed else ""
        yield f"    {one.code} {one.name}, {one.severity.name.lower()}{silenced}: {one.message}"
    codes = {one.code for one in found}
    rest = [one for one in more if one.code not in codes]
    codes |= {one.code for one in rest}
    for one in rest:
        yield f"    {one.code} {one.name}: left out by the settings ({one.certainty.name.lower()})"
    freed = [one for one in _without_profile(source, line, given, lenient) if one.code not in codes]
    for one in freed:
        yield f"    {one.code} {one.name}: free on the device of the profile {configuration.settings.profile}"
    if not found and not rest and not freed:
        yield "    none"


def _without_profile(source: Source, line: int, given: Input, lenient: Configuration) -> list[Diagnostic]:
    """The findings without a device profile."""
    from xlalint.findings.configuration import Configurations

    if lenient.profile is None:
        return []
    own = msgspec.structs.replace(lenient.with_command_line({"profile": None}, lenient.command_line), profile=None)
    (found,) = _found(source, line, given, Configurations(fixed=own))
    return found


def _found(source: Source, line: int, given: Input, *configurations: Configurations) -> Iterator[list[Diagnostic]]:
    """The findings of the line, under each of the configurations."""
    from xlalint.linting import lint_one

    for judged in lint_one(source, given, *configurations):
        yield [one for one in judged.diagnostics if one.at.line <= line <= one.at.end_line]
