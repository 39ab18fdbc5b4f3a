"""Random numbers and counters: quantities that are another each time the place runs that draws or counts them.

Such a quantity is marked by the function and the region that it is drawn in, so that it is known by their heat how
often it changes. In a ``LoopKey`` the region's place stands with a minus, where loops have their line; behind the
function's name stand those that set a counter back.
"""

from __future__ import annotations

from xlalint.facts.domain.values import Host, LoopKey, Tensor, Value


def drawn_in(path: str, function: str, region: int) -> LoopKey:
    return (path, function, -region)


def counted_in(path: str, function: str, region: int, resetting: tuple[str, ...]) -> LoopKey:
    """The mark of an attribute that a method counts in; ``resetting`` are the methods that set it back."""
    return (path, " ".join((function, *resetting)), -region)


def is_drawn(key: LoopKey | None) -> bool:
    return key is not None and bool(key[0]) and key[2] <= 0


def region_of(key: LoopKey) -> int:
    """The place of the region that a random number is drawn in; 0 for a function's own."""
    return -key[2]


def rounded_draw(key: LoopKey) -> LoopKey:
    """The mark of a random number that was rounded: one of some sizes, which is bearable but for images."""
    return key if is_rounded_draw(key) else (key[0], key[1] + ROUNDED, key[2])


def is_rounded_draw(key: LoopKey | None) -> bool:
    return is_drawn(key) and key is not None and key[1].endswith(ROUNDED)


def read_in(key: LoopKey) -> LoopKey:
    """The mark of a size that a file was read with where ``key`` says: one of some sizes, too."""
    return rounded_draw((key[0], key[1] + READ, key[2]))


def is_read_size(key: LoopKey | None) -> bool:
    return key is not None and key[1].endswith(READ + ROUNDED)


def size_kept(given: Value) -> LoopKey | None:
    """The mark of what is as large as its file."""
    known = given.varies if isinstance(given, (Host, Tensor)) else None
    return known if is_read_size(known) else None


def place_of(key: LoopKey) -> tuple[str, str]:
    """Path and qualified name of the function that draws or counts it."""
    return key[0], key[1].partition(" ")[0]


def set_back_in(key: LoopKey) -> list[tuple[str, str]]:
    """Path and qualified name of the functions that set a counter back."""
    return [(key[0], name) for name in key[1].removesuffix(ROUNDED).removesuffix(READ).split(" ")[1:]]


ROUNDED = " rounded"
READ = " read"
