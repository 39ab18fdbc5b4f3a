"""Unix sockets that someone listens on, by their place in the file system."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

_TABLE = Path("/proc/net/unix")


def sockets_in(folders: Sequence[str]) -> Iterator[str]:
    """Those that lie in ``folders`` now."""
    try:
        lines = _TABLE.read_text(encoding="utf-8", errors="surrogateescape").splitlines()[1:]
    except OSError:
        return
    for path in sorted({line.split(maxsplit=7)[-1] for line in lines}):
        if path.startswith("/") and os.path.exists(path) and any(path.startswith(f"{one}/") for one in folders):
            yield path
