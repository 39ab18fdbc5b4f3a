"""Where readers of a report find the project. It has no public address yet: this is the place to put it."""

from __future__ import annotations

from typing import Final

PROJECT: Final = ""
"""The address of the repository, as ``https://host/owner/name``; while it is empty reports name none."""


def information_uri() -> str | None:
    return PROJECT or None


def help_uri(code: str) -> str | None:
    """The page of one of the project's own rules."""
    return f"{PROJECT}/blob/main/docs/rules/{code.lower()}.md" if PROJECT and code.startswith("XLA") else None
