"""A run of the command line whose standard error is a terminal, and what that shows over time."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

TERMINAL = {"TERM": "xterm", "NO_COLOR": ""}
_REDRAW = re.compile(r"\r[^\r\n\x1b]+\x1b\[J\r|\r\x1b\[J")
"""The line drawn anew, or wiped."""
_BEGUN = re.compile(r"\r[^\r\n\x1b]*(?:\x1b(?:\[J?)?)?\Z")
_PARTS = re.compile(r"\r|\n|\x1b\[J|[^\r\n\x1b]+|.", re.DOTALL)


class Drawn(NamedTuple):
    """The line drawn once, its wipe, or what was written between two of these."""

    after: float
    """Seconds since the start."""
    text: str
    rows: tuple[str, ...]
    """What it shows now, without empty rows."""


@dataclass
class Screen:
    """As much of a terminal as the line needs: it breaks what is longer than a row."""

    columns: int
    rows: list[str] = field(default_factory=lambda: [""])
    row: int = 0
    column: int = 0

    def take(self, text: str) -> None:
        for part in _PARTS.findall(text):
            if part == "\r":
                self.column = 0
            elif part == "\n":
                self._move(self.row + 1)
            elif part == "\x1b[J":
                self.rows[self.row :] = [self.rows[self.row][: self.column]]
            else:
                assert "\x1b" not in part, f"a code that it does not know in {text!r}"
                for character in part:
                    self._put(character)

    def _put(self, character: str) -> None:
        if self.column == self.columns:
            self._move(self.row + 1)
            self.column = 0
        row = self.rows[self.row].ljust(self.column)
        self.rows[self.row] = row[: self.column] + character + row[self.column + 1 :]
        self.column += 1

    def _move(self, row: int) -> None:
        self.row = row
        self.rows += [""] * (row + 1 - len(self.rows))

    def shown(self) -> tuple[str, ...]:
        return tuple(row.rstrip() for row in self.rows if row.strip())


@dataclass
class Terminal:
    """The terminal of one run."""

    screen: Screen
    master: int
    run: subprocess.Popen[bytes]
    began: float = field(default_factory=time.monotonic)
    drawn: list[Drawn] = field(default_factory=list)

    def watch(self, seen: Callable[[Terminal], None]) -> None:
        """To the end of the run; ``seen`` is called whenever something was drawn."""
        for text in self._redraws():
            self.screen.take(text)
            self.drawn.append(Drawn(time.monotonic() - self.began, text, self.screen.shown()))
            seen(self)

    def resize(self, columns: int) -> None:
        self.screen.columns = columns
        set_columns(self.master, columns)

    def press_ctrl_c(self) -> None:
        os.write(self.master, b"\x03")

    def _redraws(self) -> Iterator[str]:
        """One by one: what is read at once may hold several on a busy machine, and may end within one."""
        decoder, rest = getincrementaldecoder("utf-8")(), ""
        for data in self._data():
            rest += decoder.decode(data)
            for found in _REDRAW.finditer(text := rest):
                before, rest = text[len(text) - len(rest) : found.start()], text[found.end() :]
                yield from filter(None, (before, found[0]))
            begun = _BEGUN.search(rest)
            said = rest[: begun.start()] if begun else rest
            rest = rest[len(said) :]
            yield from filter(None, (said,))
        yield from filter(None, (rest,))

    def _data(self) -> Iterator[bytes]:
        while True:
            try:
                data = os.read(self.master, 65_536)
            except OSError:  # the other end is closed
                return
            if not data:
                return
            yield data


class Shown(NamedTuple):
    """A run that has ended."""

    code: int
    out: str
    drawn: tuple[Drawn, ...]

    @property
    def left(self) -> tuple[str, ...]:
        """What still stands on the screen."""
        return self.drawn[-1].rows if self.drawn else ()


def unobserved(_: Terminal) -> None:
    pass


def on_terminal(
    *arguments: str,
    folder: Path,
    columns: int = 100,
    environment: Mapping[str, str] = TERMINAL,
    seen: Callable[[Terminal], None] = unobserved,
) -> Shown:
    """Standard output goes to a pipe, so it is what is compared; all else goes to the terminal."""
    master, slave = pty.openpty()
    set_columns(master, columns)
    run = subprocess.Popen(
        [sys.executable, "-m", "xlalint", *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        stdin=slave,
        stdout=subprocess.PIPE,
        stderr=slave,
        start_new_session=True,
        preexec_fn=take_terminal,
    )
    os.close(slave)
    terminal = Terminal(Screen(columns), master, run)
    out: list[bytes] = []
    assert run.stdout is not None
    reading = threading.Thread(target=lambda: out.append(run.stdout.read()))
    reading.start()
    try:
        terminal.watch(seen)
        code = run.wait(timeout=60)
    finally:
        run.kill()
        reading.join()
        run.stdout.close()
        os.close(master)
    return Shown(code, b"".join(out).decode(), tuple(terminal.drawn))


def set_columns(descriptor: int, columns: int) -> None:
    fcntl.ioctl(descriptor, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))


def take_terminal() -> None:
    """In the new process: Ctrl-C on the terminal is for it."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
