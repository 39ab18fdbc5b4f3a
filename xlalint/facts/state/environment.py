"""What names hold at one place of a function, and how two such places join."""

from __future__ import annotations

from typing import TypeAlias

from xlalint.facts.domain.lattice import join
from xlalint.facts.domain.values import Value

Environment: TypeAlias = "dict[str, Value]"


CLEAN = "%clean"
"""Present while nothing is pending on the device: a step boundary has just passed."""


def join_environments(a: Environment | None, b: Environment | None) -> Environment | None:
    """A name bound on one path only keeps its value; a pending device wins over a clean one."""
    if a is None or b is None:
        return b if a is None else a
    if a == b:
        return a
    joined = dict(a)
    for name, other in b.items():
        value = joined.get(name)
        if value is not other:
            joined[name] = other if value is None else join(value, other)
    if CLEAN in joined and (CLEAN not in a or CLEAN not in b):
        del joined[CLEAN]
    return joined
