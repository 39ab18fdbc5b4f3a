"""``xlalint init``: a configuration to begin with."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from xlalint.cli.console import say
from xlalint.cli.entry import FAILED

if TYPE_CHECKING:
    from xlalint.findings.initial_settings import Project

_REQUIREMENTS = ("pyproject.toml", "requirements.txt", "setup.py", "setup.cfg")


@click.command("init", short_help="Write a configuration with comments, fit for the project.")
@click.argument("folder", default=".", type=click.Path(exists=True, file_okay=False))
@click.option("--show", is_flag=True, help="Write it to standard output, and no file.")
def command(folder: str, show: bool) -> int:
    """Write a configuration for the project in FOLDER, the working directory by default.

    It becomes the table `[tool.xlalint]` of `pyproject.toml` where there is one, else `xlalint.toml`.
    """
    from xlalint.findings.configuration import OWN, SHARED, configuration_in
    from xlalint.findings.initial_settings import initial_table
    from xlalint.findings.settings import Settings
    from xlalint.sources.discover import shown

    root = os.path.abspath(folder)
    there = configuration_in(root)
    if there is not None and not show:
        raise click.ClickException(
            f"{shown(there.file or root)} is there already; `--show` shows what would be written"
        )
    table = initial_table(_project(root), Settings().project_max_files)
    if show:
        say(table)
        return 0
    shared = Path(root, SHARED)
    path = shared if shared.is_file() else Path(root, OWN)
    if path == shared:
        _append(path, f"[tool.xlalint]\n{table}")
    else:
        path.write_text(table, encoding="utf-8", newline="\n")
    if configuration_in(root) is None:
        return FAILED
    say(f"{shown(str(path))}: written; docs/configuration.md has all keys.\n")
    return 0


def _append(path: Path, text: str) -> None:
    """A table may stand at the end of any TOML; line ends are those of the file."""
    data = path.read_bytes()
    newline = b"\r\n" if b"\r\n" in data else b"\n"
    gap = b"" if not data else newline if data.endswith(b"\n") else newline * 2
    path.write_bytes(data + gap + text.encode().replace(b"\n", newline))


def _project(root: str) -> Project:
    from xlalint.findings.baseline import DEFAULT_NAME
    from xlalint.findings.initial_settings import Project, xla_version_in
    from xlalint.findings.settings import defaults
    from xlalint.sources.discover import discover

    excludes = defaults(root).excludes()
    files = [file.path for file in discover([Path(root)], lambda _: excludes).files]
    texts = [Path(root, name) for name in _REQUIREMENTS]
    return Project(
        files=tuple(os.path.relpath(path, root).replace(os.sep, "/") for path in files),
        imports_xla=any(b"torch_xla" in _bytes(Path(path)) for path in files),
        xla_version=xla_version_in(_bytes(path).decode("utf-8", "replace") for path in texts),
        baseline=os.path.exists(os.path.join(root, DEFAULT_NAME)),
    )


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
