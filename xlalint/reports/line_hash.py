"""The line fingerprint by which GitHub follows an alert from commit to commit.

The algorithm is that of ``src/fingerprints.ts`` in github/codeql-action: a polynomial hash of the hundred characters
from the start of a line, blanks left out, as an unsigned 64-bit number; then how often it was met in the file so far.
"""

from __future__ import annotations

import sys
from array import array
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

_WINDOW = 100
_FACTOR = 37
_MASK = (1 << 64) - 1
_END_OF_FILE = 65535
_NEWLINE = ord("\n")
_NO_BLANKS = {ord(" "): None, ord("\t"): None}


def line_hashes(lines: Sequence[str]) -> list[str]:
    """The fingerprint of each line; ``lines`` have no line ends, and the last one ends the file."""
    units = _units("\n".join(lines))
    # Hash of all text before each unit; a window's hash is the difference of two of them.
    before = array("Q", accumulate(units, _next_hash, initial=0))
    shift = pow(_FACTOR, _WINDOW, 1 << 64)
    starts = [0, *(at + 1 for at, unit in enumerate(units) if unit == _NEWLINE)]
    met: Counter[int] = Counter()
    hashes = []
    for start in starts:
        value = (before[start + _WINDOW] - before[start] * shift) & _MASK
        met[value] += 1
        hashes.append(f"{value:x}:{met[value]}")
    return hashes


def _next_hash(value: int, unit: int) -> int:
    return (value * _FACTOR + unit) & _MASK


def _units(text: str) -> array[int]:
    """UTF-16 code units, as JavaScript counts characters, with the end marker and zeros to fill the last windows."""
    order = "utf-16-le" if sys.byteorder == "little" else "utf-16-be"
    units = array("H", text.translate(_NO_BLANKS).encode(order, "surrogatepass"))
    units.append(_END_OF_FILE)
    units.extend([0] * _WINDOW)
    return units
