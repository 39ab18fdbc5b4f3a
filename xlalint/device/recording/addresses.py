"""Memory addresses in what programs say."""

from __future__ import annotations

import re

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def without_addresses(text: str) -> str:
    """``<function f at 0x7f…>`` is another text in each run, and says no more than ``<function f>``."""
    return _ADDRESS.sub("", text)
