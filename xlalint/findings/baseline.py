"""Findings that are accepted as they stand, in a file with one line for each.

A line is ``path code fingerprint``, sorted, with the path from the folder of the file: no counter, no line number, no
time. Branches that accept different findings merge line by line, and where git sees a conflict both sides may stay.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from xlalint.findings.errors import ConfigurationError
from xlalint.findings.model import Diagnostic
from xlalint.sources.discover import shown
from xlalint.sources.patterns import lazy_pattern

DEFAULT_NAME = "xlalint-baseline.txt"
_HEAD = """\
# Findings that are accepted: `xlalint baseline` writes this file, and `xlalint` reports what is not in it.
# One line for each, in any order: path, rule, fingerprint. Where branches conflict, keep the lines of both.
"""
_ENTRY = lazy_pattern(r"(?P<path>\S.*) (?P<code>[A-Z]+\d+) (?P<fingerprint>[0-9a-f]{16})")
_CONFLICT = ("<<<<<<<", "|||||||", "=======", ">>>>>>>")


class Entry(msgspec.Struct, frozen=True, order=True):
    path: str
    """From the folder of the baseline, with ``/``."""
    code: str
    fingerprint: str

    @property
    def line(self) -> str:
        return f"{self.path} {self.code} {self.fingerprint}"


class Baseline(msgspec.Struct, frozen=True):
    """What a file accepts; ``path`` is absolute."""

    path: str
    entries: frozenset[Entry]

    def entry(self, found: Diagnostic) -> Entry:
        return Entry(self._from_here(found.path), found.code, found.fingerprint)

    def place(self, entry: Entry) -> str:
        """The file of an entry, absolute."""
        return os.path.normpath(os.path.join(os.path.dirname(self.path), entry.path))

    def _from_here(self, path: str) -> str:
        absolute = os.path.abspath(path)
        try:
            return os.path.relpath(absolute, os.path.dirname(self.path)).replace(os.sep, "/")
        except ValueError:  # another drive
            return absolute.replace(os.sep, "/")

    def accepted(self, found: Sequence[Diagnostic], is_linted: Callable[[str], bool]) -> Accepted:
        """Which findings are accepted, and which entries are not found any more.

        A finding that is not accepted where it stands may have moved: it takes an entry of the same fingerprint whose
        file was linted, or is gone, and does not have it.
        """
        entries = {id(one): self.entry(one) for one in found}
        taken = {name: entry for name, entry in entries.items() if entry in self.entries}
        rest = self.entries - set(taken.values())
        left = {one for one in rest if is_linted(self.place(one))}
        moved: dict[tuple[str, str], list[Entry]] = defaultdict(list)
        for entry in sorted(left | {one for one in rest if not os.path.exists(self.place(one))}):
            moved[entry.code, entry.fingerprint].append(entry)
        for one in found:
            waiting = moved.get((one.code, one.fingerprint))
            if id(one) not in taken and waiting:
                taken[id(one)] = waiting.pop()
        gone = tuple(sorted(left - set(taken.values())))
        return Accepted(tuple(one for one in found if id(one) in taken), gone)


class Accepted(msgspec.Struct, frozen=True):
    findings: tuple[Diagnostic, ...]
    gone: tuple[Entry, ...]
    """Entries that nothing has been found for, of files that were linted."""


def read_baseline(path: str, *, conflicts: bool = False) -> Baseline:
    """The baseline at ``path``. Raises ``ConfigurationError``; with ``conflicts`` marks of a merge are passed over."""
    try:
        with open(path, encoding="utf-8-sig") as file:
            lines = file.read().splitlines()
    except OSError as error:
        raise ConfigurationError(f"{shown(path)}: {(error.strerror or str(error)).lower()}") from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{shown(path)}: is not valid UTF-8") from error
    entries = set()
    for number, line in enumerate(map(str.strip, lines), 1):
        if not line or line.startswith("#"):
            continue
        if line.startswith(_CONFLICT):
            if conflicts:
                continue
            told = "a merge conflict: keep the lines of both sides, and drop its marks"
            raise ConfigurationError(f"{shown(path)}:{number}: {told}")
        match = _ENTRY.fullmatch(line)
        if match is None:
            raise ConfigurationError(f"{shown(path)}:{number}: expected `path code fingerprint`, got `{line[:60]}`")
        entries.add(Entry(_unquoted(match["path"]), match["code"], match["fingerprint"]))
    return Baseline(os.path.abspath(path), frozenset(entries))


def empty_baseline(path: str) -> Baseline:
    return Baseline(os.path.abspath(path), frozenset())


def baseline_text(entries: Iterable[Entry]) -> str:
    return _HEAD + "".join(f"{line}\n" for line in _lines(entries))


def _lines(entries: Iterable[Entry]) -> Iterator[str]:
    for one in sorted(set(entries)):
        yield msgspec.structs.replace(one, path=_quoted(one.path)).line


# A name may hold what ends a line, is no character, or begins as a comment does.
_SPECIAL = lazy_pattern(r"[%\s\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]|\A[#<|=>]")
_SPELLED = lazy_pattern(r"%\{([0-9a-f]+)\}")


def _quoted(path: str) -> str:
    def spelled(match: re.Match[str]) -> str:
        return " " if match[0] == " " and match.start() else f"%{{{ord(match[0]):x}}}"

    return _SPECIAL.sub(spelled, path)


def _unquoted(path: str) -> str:
    return _SPELLED.sub(lambda match: chr(int(match[1], 16)), path)


def is_in(path: str, folders: Iterable[str]) -> bool:
    """Whether an absolute path is one of ``folders``, or lies in one."""
    return any(path == one or path.startswith(one.rstrip(os.sep) + os.sep) for one in folders)
