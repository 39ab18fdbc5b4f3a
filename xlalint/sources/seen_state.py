"""The state of the file system on which a run depends, and whether it is still the same."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

import msgspec

from xlalint.sources.observations import (
    ABSENT,
    FILE,
    FOLDER,
    TOO_LARGE,
    Listing,
    Observations,
    Seen,
    kind_at,
    listing_at,
    seen_at,
    stamp_at,
)

K = TypeVar("K")
V = TypeVar("V")


class SeenState(msgspec.Struct, frozen=True, array_like=True):
    """Observations, without what others of them imply."""

    files: dict[str, Seen]
    names: dict[str, dict[str, int]]
    """By folder, what stands there under a name."""
    listings: tuple[Listing, ...]
    targets: dict[str, str]
    search_path: tuple[str, ...] | None

    def again(self, search_path: Sequence[str], *, by_time: bool) -> SeenState | None:
        """The same with the times of now; None where a run would see something else. ``by_time``: what has the same
        times has not changed."""
        if self.search_path not in (None, tuple(search_path)):
            return None
        if any(os.path.realpath(path) != target for path, target in self.targets.items()):
            return None
        listings = _all((one, _listed_again(one, by_time)) for one in self.listings)
        if listings is None or not self._holds_the_same_names(listings):
            return None
        files = _all((path, _read_again(path, one, by_time)) for path, one in self.files.items())
        if files is None:
            return None
        return SeenState(files, self.names, tuple(listings.values()), self.targets, self.search_path)

    def _holds_the_same_names(self, listings: Mapping[Listing, Listing]) -> bool:
        """In a folder whose times are those of before nothing has come to be."""
        untouched = {one.folder for one, again in listings.items() if again is one}
        for folder, names in self.names.items():
            for name, kind in names.items():
                is_told = kind == ABSENT and folder in untouched
                if not is_told and kind_at(os.path.join(folder, name)) != kind:
                    return False
        return True


def seen_state(seen: Observations) -> SeenState:
    """What a run depends on that has seen this."""
    listed = {one.folder for one in seen.listings}
    names: dict[str, dict[str, int]] = {}
    for path, kind in seen.kinds.items():
        if (kind == FILE and path in seen.files) or (kind == FOLDER and path in listed):
            continue
        folder, name = os.path.split(_missing(path) if kind == ABSENT else path)
        names.setdefault(folder, {})[name] = kind
    return SeenState(seen.files, names, tuple(dict.fromkeys(seen.listings)), seen.targets, seen.search_path)


def _missing(path: str) -> str:
    """The first part of a path that is not there."""
    while not os.path.lexists(parent := os.path.dirname(path)) and parent != path:
        path = parent
    return path


def _all(pairs: Iterable[tuple[K, V | None]]) -> dict[K, V] | None:
    """All of them, or None where one is missing."""
    found: dict[K, V] = {}
    for key, value in pairs:
        if value is None:
            return None
        found[key] = value
    return found


def _read_again(path: str, seen: Seen, by_time: bool) -> Seen | None:
    """The same file, if it is."""
    if by_time and seen.stamp is not None and stamp_at(path) == seen.stamp:
        return seen
    again = seen_at(path)
    if again is None:
        return None
    is_same = again.size == seen.size if seen.digest == TOO_LARGE else again.digest == seen.digest
    return msgspec.structs.replace(again, digest=seen.digest) if is_same else None


def _listed_again(listing: Listing, by_time: bool) -> Listing | None:
    """The same folder, if all that matters in it is."""
    if by_time and listing.stamp is not None and stamp_at(listing.folder) == listing.stamp:
        return listing
    again = listing_at(listing.folder, listing.selection)
    return again if again.digest == listing.digest else None
