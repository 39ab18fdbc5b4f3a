"""The environment: what names hold at one place of a function, and how two such places join."""

from __future__ import annotations

from typing import Final, TypeAlias

from xlalint.facts.domain.lattice import join
from xlalint.facts.domain.values import Value

Names: TypeAlias = dict[str, Value]
NO_PATHS: Final[frozenset[str]] = frozenset()


class Environment(dict[str, Value]):
    """The values of names, and of attributes of ``self`` by their path: ``x``, ``self.x``.

    ``is_clean`` says that nothing is pending on the device: a step boundary has just passed. ``periodic`` are the paths
    that hold what is true every k-th time: ``should_log = step % k == 0``.
    """

    __slots__ = ("is_clean", "periodic")

    def __init__(self, names: Names | None = None, is_clean: bool = False, periodic: frozenset[str] = NO_PATHS) -> None:
        if names:
            super().__init__(names)
        self.is_clean = is_clean
        self.periodic = periodic

    def copy(self) -> Environment:
        return Environment(self, self.is_clean, self.periodic)

    def says_all_of(self, other: Environment) -> bool:
        """Whether what ``other`` holds stands here as it is there."""
        if (other.is_clean and not self.is_clean) or not other.periodic <= self.periodic:
            return False
        return all(self.get(name) is value for name, value in other.items())


def join_environments(a: Environment | None, b: Environment | None) -> Environment | None:
    """A name bound on one path only keeps its value; a pending device wins over a clean one."""
    if a is None or b is None:
        return b if a is None else a
    is_clean, periodic = a.is_clean and b.is_clean, a.periodic | b.periodic
    if a == b and a.is_clean == is_clean and a.periodic == periodic:
        return a
    joined = Environment(a, is_clean, periodic)
    for name, other in b.items():
        value = joined.get(name)
        if value is not other:
            joined[name] = other if value is None else join(value, other)
    return joined
