"""The decoded text of one file."""

from __future__ import annotations

import msgspec


class Source(msgspec.Struct, frozen=True):
    """``path`` as shown to the user; ``text`` decoded, newlines as in the file, without a byte order mark."""

    path: str
    text: str
    encoding: str

    def lines(self) -> list[str]:
        """Lines as the tokenizer counts them: only LF, CRLF and CR end a line, a form feed does not."""
        text = self.text
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        return text.split("\n")


class Unreadable(Exception):
    """A file that can't be linted. The message is one line, without the path."""
