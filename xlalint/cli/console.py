"""Console output: reports on standard output, and one-line messages on standard error."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable, Iterator
from typing import TextIO

import click


def complain(level: str, text: str) -> None:
    """One line on standard error. Whatever is in ``text`` (a file name, say) stays on it and can't move the cursor."""
    line = " ".join(text.split())
    safe = "".join(character if character.isprintable() else "\ufffd" for character in line)
    # Where standard error takes nothing, there is nobody left to tell, and the exit code still says it.
    with contextlib.suppress(OSError):
        _write(sys.stderr, f"xlalint: {level}: {safe}\n")


def say(text: str, *, utf8: bool = False) -> bool:
    """Write to standard output; False if nobody reads it any more. ``utf8``: for programs, whatever the locale.

    Raises ``click.ClickException`` where it can't be written.
    """
    try:
        if utf8 and hasattr(sys.stdout, "buffer"):
            sys.stdout.flush()
            sys.stdout.buffer.write(text.encode("utf-8"))
            sys.stdout.buffer.flush()
        else:
            _write(sys.stdout, text)
            sys.stdout.flush()
    except BrokenPipeError:
        to_nowhere(sys.stdout)
        return False
    except OSError as error:
        to_nowhere(sys.stdout)
        raise click.ClickException(f"standard output: {error.strerror or error}") from error
    return True


def in_chunks(pieces: Iterable[str], least: int = 65_536) -> Iterator[str]:
    """The pieces joined until there is something to write."""
    held: list[str] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= least:
            yield "".join(held)
            held, size = [], 0
    if held:
        yield "".join(held)


def to_nowhere(stream: TextIO) -> None:
    """The stream takes nothing more: let the flush at exit go nowhere, instead of raising again."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def flush_or_drop(stream: TextIO) -> None:
    """At the end, when all that could be told of it has been."""
    try:
        stream.flush()
    except OSError:
        to_nowhere(stream)


def use_color(choice: str, *, to_file: bool) -> bool:
    """``--color``, then NO_COLOR, then FORCE_COLOR, then whether standard output is a terminal."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if to_file:
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def _write(stream: TextIO, text: str) -> None:
    try:
        stream.write(text)
    except UnicodeEncodeError:
        # A terminal of another encoding shows what it can.
        encoding = stream.encoding or "ascii"
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
