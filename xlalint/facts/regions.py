"""The regions of one function: which loop stands around which, as the fixpoint of heat sees them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from xlalint.facts.kinds import LOOPS, RegionKind, SignKind
from xlalint.facts.records import ROOT, Arm, CallEdge, DefaultTest, FunctionKey, Region, RegionKey, Sign

CONSTRUCTORS = frozenset({"__init__", "__new__", "__post_init__"})
"""Methods whose calls name the class."""


class FunctionFacts(msgspec.Struct, frozen=True, array_like=True):
    """One function as the fixpoint sees it. ``bases`` are the names of its class and the class's bases,
    ``overrides`` the methods of the bases that it stands in for."""

    key: FunctionKey
    name: str
    owner: str
    bases: tuple[str, ...]
    is_module: bool
    has_forward: bool
    overrides: tuple[FunctionKey, ...]
    in_script: bool
    regions: dict[RegionKey, Region]
    signs: tuple[Sign, ...]
    calls: tuple[CallEdge, ...]
    is_generator: bool
    without_grad: bool
    turned_off: bool = False
    """No graph goes through it: ``@torch.compiler.disable``."""
    outcomes: tuple[Arm, ...] = ()
    """The outcomes that tests have, or may have, in calls of the program."""
    default_tests: tuple[DefaultTest, ...] = ()

    def is_passed_by(self, arms: Iterable[Arm]) -> bool:
        """Whether the calls of the program decide some test that leads to one of these arms, and all otherwise."""
        return any((at, taken) not in self.outcomes and (at, not taken) in self.outcomes for at, taken in arms)

    def reads_at(self, sign: Sign) -> bool:
        """Whether a sign tells that the function reads the host each time that it runs."""
        return sign.kind is SignKind.HOST_READ and not is_seldom(self, sign.region)


def loop_of(function: FunctionFacts, region: RegionKey) -> RegionKey | None:
    """The innermost loop around a region, the region included."""
    while region != ROOT:
        known = function.regions.get(region)
        if region[0] in LOOPS and (known is None or known.over not in WITHIN_A_STEP):
            return region
        if known is None:
            return None
        region = known.parent
    return None


WITHIN_A_STEP = frozenset({"parameters", "optimizers", "parts"})
"""What loops over these do is done once a step."""


def within(function: FunctionFacts, region: RegionKey, outer: RegionKey) -> bool:
    while region != outer:
        known = function.regions.get(region)
        if known is None:
            return False
        region = known.parent
    return True


def regions_around(regions: Mapping[RegionKey, Region], region: RegionKey) -> Iterator[RegionKey]:
    """A region and those of a function that it stands in, innermost first; the function's body is left out."""
    while region in regions:
        yield region
        region = regions[region].parent


TURNS = "turns"
"""What stands behind a test of the loop's own turns runs in some of them, and so at least once where the loop does."""

SELDOM = frozenset({RegionKind.AMORTISED, RegionKind.RARE, RegionKind.LEAVING})


def is_seldom(function: FunctionFacts, region: RegionKey) -> bool:
    """Whether a region runs less often than what stands around it. What leaves a function, and no loop of it, does
    not: ``if kind == "px": return …``."""
    return any(
        key[0] in SELDOM and (key[0] is not RegionKind.LEAVING or loop_of(function, key) is not None)
        for key in regions_around(function.regions, region)
    )


def nesting(function: FunctionFacts, region: RegionKey) -> int:
    depth = 0
    while region != ROOT and region in function.regions:
        region = function.regions[region].parent
        depth += 1
    return depth


def subject_of(key: FunctionKey) -> str:
    """A function as the subject of a sign that it is compiled."""
    return "\t".join(map(str, key))


def functions_named(signs: Iterable[Sign], kind: SignKind) -> list[FunctionKey]:
    """The functions that are the subjects of signs of a kind."""
    found = []
    for sign in signs:
        if sign.kind is kind:
            path, name, at = sign.subject.split("\t")
            found.append((path, name, int(at)))
    return found
