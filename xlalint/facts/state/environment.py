"""The environment: what names hold at one place of a function, and how two such places join."""

from __future__ import annotations

from typing import Final, TypeAlias

from xlalint.facts.domain.lattice import join
from xlalint.facts.domain.values import Value

Names: TypeAlias = dict[str, Value]
NO_PATHS: Final[frozenset[str]] = frozenset()


class Environment(dict[str, Value]):
    """The values of names, and of attributes of ``self`` by their path: ``x``, ``self.x``.

    It is copied for each branch, so what is rarely set stands in the class and is made by no constructor.
    """

    is_clean: bool = False
    """Nothing is pending on the device: a step boundary has just passed."""
    periodic: frozenset[str] = NO_PATHS
    """The paths that hold what is true every k-th time: ``should_log = step % k == 0``."""

    def copy(self) -> Environment:
        return flagged(Environment(self), self.is_clean, self.periodic)

    def says_all_of(self, other: Environment) -> bool:
        """Whether what ``other`` holds stands here as it is there."""
        if (other.is_clean and not self.is_clean) or not other.periodic <= self.periodic:
            return False
        return all(self.get(name) is value for name, value in other.items())


def flagged(environment: Environment, is_clean: bool, periodic: frozenset[str]) -> Environment:
    if is_clean:
        environment.is_clean = True
    if periodic:
        environment.periodic = periodic
    return environment


def join_environments(a: Environment | None, b: Environment | None) -> Environment | None:
    """A name bound on one path only keeps its value; a pending device wins over a clean one."""
    if a is None or b is None:
        return b if a is None else a
    is_clean, periodic = a.is_clean and b.is_clean, a.periodic | b.periodic
    if a == b and a.is_clean == is_clean and a.periodic == periodic:
        return a
    joined = flagged(Environment(a), is_clean, periodic)
    for name, other in b.items():
        value = joined.get(name)
        if value is not other:
            joined[name] = other if value is None else join(value, other)
    return joined
