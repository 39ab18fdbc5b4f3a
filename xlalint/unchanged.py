"""The run over what has not changed: its report is kept with all that the run saw, and given again while that holds.

What a run sees depends on what it is asked, and on what it found so far; so the question is the key of an entry, and
the entry holds what was seen on the way to the answer.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Mapping

import msgspec

from xlalint.cache.folder import CacheFolder, Unusable
from xlalint.cache.version import version_of_tool
from xlalint.findings.model import Report
from xlalint.findings.plugins import note_modules
from xlalint.sources.observations import Observations
from xlalint.sources.seen_state import SeenState, seen_state

_ROOM = "runs"
_ENVIRONMENT = ("CONDA_PREFIX", "HOME", "USERPROFILE", "VIRTUAL_ENV")
"""Variables that tell where packages are installed, and what `~` is."""
_ENCODER = msgspec.msgpack.Encoder()


class Entry(msgspec.Struct, frozen=True, array_like=True):
    """``report`` is decoded once it is known to hold."""

    seen: SeenState
    report: msgspec.Raw


class Question(msgspec.Struct, frozen=True):
    """What a run is asked, as far as it may change the report; how that is shown is no part of it."""

    paths: tuple[str, ...]
    settings: Mapping[str, object]
    """The options of the command line that are given."""
    project: str | None = None
    alone: bool = False
    stdin: tuple[str, bytes] | None = None
    """Name and text."""

    def key(self) -> str:
        """The name of the entry."""
        # The number of processes changes no finding.
        given = sorted((name, value) for name, value in self.settings.items() if value is not None and name != "jobs")
        around = [(name, os.environ.get(name)) for name in _ENVIRONMENT]
        place = (os.getcwd(), sys.getfilesystemencoding(), self.paths, self.project, self.alone)
        told = (version_of_tool(), place, given, around, self.stdin)
        return hashlib.sha256(repr(told).encode("utf-8", "surrogateescape")).hexdigest()[:32]


class Runs:
    """The runs that a folder keeps. ``by_time`` says whether files of the same times are taken for the same."""

    def __init__(self, folder: CacheFolder, *, by_time: bool = True) -> None:
        self._folder = folder
        self._by_time = by_time

    def recall(self, key: str) -> Report | None:
        """The report of a run that would find the same; None where there is none. Raises ``Unusable``."""
        text = self._folder.read(_ROOM, key)
        if text is None:
            return None
        try:
            entry = msgspec.msgpack.decode(text, type=Entry)
            seen = entry.seen.again(sys.path, by_time=self._by_time)
            report = msgspec.msgpack.decode(entry.report, type=Report) if seen is not None else None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Unusable(f"a run in the cache can't be read, and is made anew: {error}") from error
        if seen is not None and seen != entry.seen:
            # It was compared by content: with the times of now the next run need not.
            self._write(key, Entry(seen, entry.report))
        return report

    def keep(self, key: str, seen: Observations, report: Report) -> None:
        """Keep a run, if it would come out the same again. Raises ``Unusable``."""
        if seen.is_torn or any(one.internal for one in report.skipped):
            return
        if seen.search_path is not None:
            note_modules()
        self._write(key, Entry(seen_state(seen), msgspec.Raw(_ENCODER.encode(report))))

    def _write(self, key: str, entry: Entry) -> None:
        try:
            text = _ENCODER.encode(entry)
        except (UnicodeEncodeError, ValueError, OverflowError) as error:
            raise Unusable(f"this run is not kept: {error}") from error
        self._folder.write(_ROOM, key, text)
