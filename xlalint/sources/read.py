"""Decodes bytes as Python itself does: PEP 263 cookies, byte order marks, one line for each failure."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import BinaryIO

from xlalint.sources import observed
from xlalint.sources.patterns import lazy_pattern
from xlalint.sources.source import Source, Unreadable

DEFAULT_LIMIT_MB = 5
"""Larger files (10**6 bytes each) are generated; four megabytes of them are still linted."""

NOTEBOOK = "is a notebook, which is not read yet"
_CHUNK = 2**20
_SPACE = 1000
"""Bytes in which a notebook begins, if not with the first."""
_BOM = b"\xef\xbb\xbf"
# UTF-32 first: its little-endian mark begins with that of UTF-16.
_WIDE_MARKS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
# The cookie counts in the first two lines only, and in the second only if the first is blank or a comment (PEP 263).
_COOKIE = lazy_pattern(
    rb"\A(?:[ \t\f]*(?:#[^\r\n]*)?(?:\r\n|\r|\n))?[ \t\f]*#[^\r\n]*?coding[:=][ \t]*([-\w.]+)", re.ASCII
)


def read_bytes(path: str | Path, limit_mb: int = DEFAULT_LIMIT_MB) -> bytes:
    """The bytes of a regular file of at most ``limit_mb`` million bytes.

    Raises ``Unreadable``. Never blocks: a pipe or a device is refused before anything is read from it.
    """
    try:
        # O_NONBLOCK: to open a FIFO that nobody writes to would wait for ever.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with open(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                observed.kind_of(os.fspath(path))
                raise Unreadable("is not a regular file")
            data = _read_at_most(file, limit_mb)
    except (OSError, ValueError) as error:
        observed.note_unread(path)
        raise Unreadable(reason_of(error)) from error
    observed.note_read(path, status, data)
    if data is None:
        raise _too_large(limit_mb)
    return data


def read_stream(stream: BinaryIO, limit_mb: int) -> bytes:
    """All that comes, at most ``limit_mb`` million bytes. Raises ``Unreadable``, and what the stream itself raises."""
    data = _read_at_most(stream, limit_mb)
    if data is None:
        raise _too_large(limit_mb)
    return data


def _read_at_most(stream: BinaryIO, limit_mb: int) -> bytes | None:
    left = limit_mb * 10**6
    pieces = []
    # Piece by piece: room for a whole limit would be asked for at once, and a limit may be any number.
    while chunk := stream.read(_CHUNK):
        pieces.append(chunk)
        left -= len(chunk)
        if left < 0:
            return None
    return b"".join(pieces)


def _too_large(limit_mb: int) -> Unreadable:
    return Unreadable(f"is larger than {limit_mb} MB (`max-file-size`)")


def is_notebook(path: str) -> bool:
    """By its name; what is in it is for ``decode``."""
    return path.lower().endswith(".ipynb")


def reason_of(error: OSError | ValueError) -> str:
    """What the system said, as one lower-case line without the path."""
    text = getattr(error, "strerror", None) or str(error)
    return " ".join(text.split()).lower() or type(error).__name__


def decode(data: bytes, path: str) -> Source:
    """Decode Python source; ``path`` is what the user is shown. Raises ``Unreadable``."""
    if is_notebook(path) or _holds_notebook(data):
        raise Unreadable(NOTEBOOK)
    for mark, name in _WIDE_MARKS:
        if data.startswith(mark):
            raise Unreadable(f"is encoded in {name}; Python reads UTF-8, or what an encoding comment names")
    if b"\0" in data:
        line = data.count(b"\n", 0, data.index(b"\0")) + 1
        raise Unreadable(f"contains null bytes (first in line {line})")
    marked = data.startswith(_BOM)
    body = data[len(_BOM) :] if marked else data
    encoding = _encoding_of(body, marked)
    return Source(path=path, text=_decoded(body, encoding), encoding="utf-8-sig" if marked else encoding)


def read(path: Path, shown: str | None = None, limit_mb: int = DEFAULT_LIMIT_MB) -> Source:
    """The text of one file. Raises ``Unreadable`` with a one-line reason."""
    return decode(read_bytes(path, limit_mb), shown if shown is not None else path.as_posix())


def lines_of(path: str) -> list[str] | None:
    """The lines of a file as the tokenizer counts them; None if it can't be read."""
    try:
        return decode(read_bytes(path), path).lines()
    except Unreadable:
        return None


def _holds_notebook(data: bytes) -> bool:
    """By its content, for what has no name: the JSON of a notebook parses as Python, and would pass for clean."""
    return data[:_SPACE].removeprefix(_BOM).lstrip().startswith(b"{") and b'"nbformat"' in data


def _encoding_of(body: bytes, marked: bool) -> str:
    cookie = _COOKIE.match(body)
    if cookie is None:
        return "utf-8"
    named = cookie[1].decode("ascii")
    normal = named.lower().replace("_", "-")
    if normal == "utf-8" or normal.startswith("utf-8-"):
        return "utf-8"
    if marked:
        raise Unreadable(f"has a UTF-8 byte order mark, but its encoding comment says `{named}`")
    return named


def _decoded(body: bytes, encoding: str) -> str:
    try:
        text = body.decode(encoding)
        if encoding != "utf-8":
            # Some codecs (utf-7, raw_unicode_escape) can give lone surrogates, which nothing after this can print.
            text.encode("utf-8")
    except LookupError as error:
        raise Unreadable(f"names the unknown encoding `{encoding}`") from error
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        raise Unreadable(f"is not valid {encoding.upper()} (byte 0x{body[error.start]:02x} in line {line})") from error
    except Exception as error:  # a codec may raise what it likes
        raise Unreadable(f"can't be decoded as `{encoding}`") from error
    if "\0" in text:
        raise Unreadable("contains null characters")
    return text
