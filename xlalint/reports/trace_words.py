"""The words and figures of a trace for people."""

from __future__ import annotations

import re
from collections.abc import Sequence

from xlalint.device.recording.counts import Amounts, Counts, LineCounts
from xlalint.device.recording.stretches import Place
from xlalint.device.trace.model import Rates
from xlalint.reports.summary import plural

NOUNS = {"compiles": "compile", "executions": "graph", "reads": "read", "uploads": "upload", "fallbacks": "fallback"}
_INSTALLED = re.compile(r"^.*[/\\](?:site|dist)-packages[/\\]")
_UNITS = ("B", "KB", "MB", "GB", "TB")


def words(counts: Counts | LineCounts | Rates) -> str:
    parts = [amount(getattr(counts, name), noun) for name, noun in NOUNS.items() if getattr(counts, name)]
    return ", ".join(parts) or "nothing"


def words_in_all(counts: Counts, amounts: Amounts) -> str:
    """With the seconds and bytes that they come to."""
    aside = {
        "compiles": f" ({seconds(amounts.compile_seconds)})" if amounts.compile_seconds else "",
        "reads": f" ({size(amounts.read_bytes)})" if amounts.read_bytes else "",
        "uploads": f" ({size(amounts.uploaded_bytes)})" if amounts.uploaded_bytes else "",
    }
    parts = [
        f"{amount(getattr(counts, name), noun)}{aside.get(name, '')}"
        for name, noun in NOUNS.items()
        if getattr(counts, name)
    ]
    return ", ".join(parts) or "nothing"


def amount(count: float, noun: str) -> str:
    return plural(count, noun) if isinstance(count, int) else f"{figure(count)} {noun}{'' if count == 1 else 's'}"


def times(count: float) -> str:
    named = {0.0: "never", 1.0: "once", 2.0: "twice"}
    return named.get(count, f"{figure(count)} times")


def figure(number: float) -> str:
    return f"{round(number, 2):g}"


def seconds(number: float) -> str:
    return f"{number:.0f} s" if number >= 10 else f"{number:.1f} s" if number >= 0.1 else f"{number * 1000:.0f} ms"


def size(count: float) -> str:
    unit = 0
    while count >= 1024 and unit < len(_UNITS) - 1:
        count, unit = count / 1024, unit + 1
    return f"{count:.0f} {_UNITS[unit]}" if unit == 0 or count >= 10 else f"{count:.1f} {_UNITS[unit]}"


def place_name(place: Place | None) -> str:
    return f"{in_package(place[0])}:{place[1]}" if place else "no line of yours"


def in_package(path: str) -> str:
    """``…/site-packages/transformers/trainer.py`` as ``transformers/trainer.py``."""
    return _INSTALLED.sub("", path)


def listed(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def aligned(rows: Sequence[Sequence[str]], left: int) -> list[str]:
    """A table; the first ``left`` columns are text, the others numbers."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = (
            cell.ljust(width) if column < left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        lines.append("  ".join(cells).rstrip())
    return lines
