"""``xlalint clean``: remove what is kept between runs."""

from __future__ import annotations

import os

import click

from xlalint.cli.console import say
from xlalint.cli.options import GivenPath


@click.command("clean", short_help="Remove the cache.")
@click.option("--cache-dir", type=GivenPath(file_okay=False), metavar="DIR", help="Folder of the cache.")
def command(cache_dir: str | None) -> int:
    """Remove what runs have kept in the cache: in the folder of --cache-dir, of XLALINT_CACHE_DIR, or the user's own.

    What is not the cache's stays where it is.
    """
    from xlalint.cache.folder import cleared, default_folder

    path = os.path.abspath(cache_dir) if cache_dir is not None else default_folder()
    try:
        size = cleared(path)
    except OSError as error:
        raise click.ClickException(f"{error.filename or path}: {error.strerror or error}") from error
    say(f"{path}: {size / 1e6:.1f} MB removed\n" if size is not None else f"{path}: nothing is kept there\n")
    return 0
