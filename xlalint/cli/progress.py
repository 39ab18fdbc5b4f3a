"""The line of a terminal that says how far a run is: from the first second on, redrawn ten times a second by a thread
that asks, and wiped at the end."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

_SHOW_AFTER: Final = 0.4
"""Seconds; a shorter run needs no such line."""
_REDRAW_EACH: Final = 0.1
_BAR: Final = 12
_ROOM_FOR_BAR: Final = 70
"""Columns of a terminal that has room for words beside the bar."""
_COLUMNS: Final = 80
"""Of a terminal that does not know."""
_CAUTION: Final = 0.3
"""The part of itself by which a first estimate is raised: it may fall, and never rises."""
_ERASE: Final = "\x1b[J"
"""From the cursor on, on however many rows: a terminal that was made narrower has broken the line."""


class Standing(NamedTuple):
    """How far a run is."""

    text: str
    share: float | None = None
    """What of all its time is over, from 0 to 1; None where that is not known."""


class TimeLeft:
    """An estimate that only falls. It begins when it is made."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._least: float | None = None

    def seconds(self, share: float) -> float | None:
        """None as long as nothing is done."""
        if share > 0:
            left = 1 - min(share, 1)
            now = (time.monotonic() - self._began) * left / share * (1 + _CAUTION * left)
            self._least = now if self._least is None else min(self._least, now)
        return self._least


class ProgressLine:
    """Drawn on standard error where that is a terminal which can move its cursor, unless the run is to be ``quiet``."""

    def __init__(self, *, quiet: bool) -> None:
        self._wanted = not quiet and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._ask: Callable[[], Standing] | None = None
        self._shown: Standing | None = None
        self._left = TimeLeft()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._draw_on, daemon=True)
        self._drawing = threading.Lock()
        self._drawn = False

    def follow(self, ask: Callable[[], Standing]) -> None:
        """From now on ``ask`` says how far the run is; what was estimated before was of something else."""
        self._ask, self._left = ask, TimeLeft()
        if self._wanted and self._thread.ident is None:
            self._thread.start()

    def show(self, now: Standing) -> None:
        """So far it is, until more is shown."""
        is_other = self._shown is None or (self._shown.share is None) != (now.share is None)
        self._shown = now
        if is_other:
            self.follow(lambda: self._shown or now)

    def __enter__(self) -> ProgressLine:
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        with self.wiped():
            pass

    @contextlib.contextmanager
    def wiped(self) -> Iterator[None]:
        """Nothing is drawn meanwhile."""
        with self._drawing:
            if self._drawn:
                self._drawn = False
                _send(f"\r{_ERASE}")
            yield

    def _draw_on(self) -> None:
        pause = _SHOW_AFTER
        while not self._ended.wait(pause):
            pause = _REDRAW_EACH
            with self._drawing, contextlib.suppress(OSError):
                if not self._ended.is_set() and _is_in_front():
                    self._drawn = True
                    _send(self._line())

    def _line(self) -> str:
        assert self._ask is not None  # the thread is started by who gives it
        standing = self._ask()
        columns = os.get_terminal_size(sys.stderr.fileno()).columns or _COLUMNS
        left = self._left.seconds(standing.share) if standing.share is not None else None
        text = ", ".join(filter(None, (_clock(left) if left is not None else "", standing.text)))
        if standing.share is not None and columns >= _ROOM_FOR_BAR:
            text = f"{_bar(standing.share)} {text}"
        # In one piece, and back at its beginning: what is written over it or echoed there begins no row of its own.
        return f"\r{fitting(text, columns - 1)}{_ERASE}\r"


def _send(text: str) -> None:
    # Past the stream: a process that is forked meanwhile gets no half of it, and no lock.
    os.write(sys.stderr.fileno(), text.encode(sys.stderr.encoding or "ascii", "replace"))


def _is_in_front() -> bool:
    """Not in the background, where a shell has taken the terminal back."""
    try:
        return os.tcgetpgrp(sys.stderr.fileno()) == os.getpgrp()
    except (OSError, AttributeError):  # not ours to ask, or no such thing here
        return True


def _clock(seconds: float) -> str:
    minutes, rest = divmod(max(1, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02} left" if hours else f"{minutes}:{rest:02} left"


def _bar(share: float) -> str:
    filled = int(_BAR * min(share, 1))
    return f"[{'#' * filled}{'.' * (_BAR - filled)}]"


def fitting(text: str, columns: int) -> str:
    """As much as has room. What may take two columns is counted so; what can't be printed moves no cursor."""
    shown, room = "", columns
    for character in text:
        room -= 1 if ord(character) < 0x1100 else 2
        if room < 0:
            break
        shown += character if character.isprintable() else "\ufffd"
    return shown
