"""What goes wrong when a wall is built."""

from __future__ import annotations


class NoWall(Exception):
    """No mechanism works on this system. One line, with what each of them said."""
