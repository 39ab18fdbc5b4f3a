"""The linter's end of the pipes to a worker: nothing is waited for without an end."""

from __future__ import annotations

import os
import selectors
import time
from collections.abc import Callable

from xlalint.device.worker import protocol

LOOK_EACH = 0.05
"""Seconds between two looks at a worker that is silent."""
_PART = 1 << 16


class TooLate(Exception):
    """The worker took longer than it may."""


class Gone(Exception):
    """The worker has closed its end."""


class Channel:
    """``look`` is called while the worker is silent, and may raise what ends the wait."""

    def __init__(self, requests: int, answers: int) -> None:
        self._requests, self._answers = requests, answers
        self._read = bytearray()
        os.set_blocking(requests, False)

    def send(self, message: bytes, deadline: float) -> None:
        """Raises ``TooLate`` and ``Gone``."""
        while message:
            if self._ready(self._requests, selectors.EVENT_WRITE, deadline):
                try:
                    message = message[os.write(self._requests, message[:_PART]) :]
                except BlockingIOError:
                    continue
                except BrokenPipeError as error:
                    raise Gone from error

    def receive(self, deadline: float, look: Callable[[], None] = lambda: None) -> bytes:
        """The body of the next message. Raises ``TooLate``, ``Gone`` and what ``look`` raises."""
        while (body := protocol.whole(self._read)) is None:
            if not self._ready(self._answers, selectors.EVENT_READ, deadline):
                look()
                continue
            part = os.read(self._answers, _PART)
            if not part:
                raise Gone
            self._read += part
        del self._read[: protocol.length(body)]
        return body

    def _ready(self, descriptor: int, event: int, deadline: float) -> bool:
        if time.monotonic() > deadline:
            raise TooLate
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, event)
            return bool(selector.select(LOOK_EACH))
