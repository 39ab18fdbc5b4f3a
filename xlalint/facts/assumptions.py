"""What the user tells the analysis: names of their own loaders, steps, boundaries, host-only functions."""

from __future__ import annotations

import msgspec


class Assumptions(msgspec.Struct, frozen=True):
    """``assume_xla`` None means: by the evidence of the files. Names are last names or dotted names."""

    assume_xla: bool | None = None
    loaders: frozenset[str] = frozenset()
    step_functions: frozenset[str] = frozenset()
    boundaries: frozenset[str] = frozenset()
    host_functions: frozenset[str] = frozenset()
