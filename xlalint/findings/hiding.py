"""What a report leaves out by the user's wish: findings that a baseline accepts, and those on lines that are older than
a revision. It is applied to the finished report, so a run in the cache serves with it and without."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

import msgspec

from xlalint.findings.baseline import DEFAULT_NAME, Baseline, Entry, empty_baseline, is_in, read_baseline
from xlalint.findings.configuration import Configurations
from xlalint.findings.errors import ConfigurationError
from xlalint.findings.model import Diagnostic, Report
from xlalint.sources.discover import shown
from xlalint.sources.git_changes import ChangesSince, NoChanges

_MOST_GONE = 10


class Accepting:
    """The baselines of a run: the one that is named, or for each file that of its configuration."""

    def __init__(self, configured: Configurations, named: str | None = None) -> None:
        self._configured = configured
        self._named = named

    def path_for(self, path: str) -> str | None:
        """The baseline of the file or folder ``path``, absolute, whether or not it exists; None without any."""
        if self._named is not None:
            return os.path.abspath(self._named)
        found = self._configured.of_folder(os.path.abspath(path)) if os.path.isdir(path) else None
        found = found if found is not None else self._configured.of_file(path)
        return os.path.join(found.root, found.settings.baseline or DEFAULT_NAME)

    def read(self, path: str) -> Baseline | None:
        """The baseline of ``path``; None where the default one is not there. Raises ``ConfigurationError``."""
        file = self.path_for(path)
        if file is None:
            return None
        if not os.path.exists(file) and os.path.basename(file) == DEFAULT_NAME and self._named is None:
            return None
        try:
            return read_baseline(file)
        except ConfigurationError as error:
            if os.path.exists(file):
                raise
            raise ConfigurationError(f"{shown(file)}: no such baseline; `xlalint baseline` writes it") from error

    def hide(self, report: Report, paths: Sequence[str], *, all_rules: bool) -> Report:
        """Without what is accepted. ``paths`` are what the user named; only where ``all_rules`` were asked for can an
        entry be gone. Raises ``ConfigurationError``."""
        by_file: dict[str, list[Diagnostic]] = {}
        asked = {file: path for path in paths if (file := self.path_for(path)) is not None}
        for one in report.diagnostics:
            file = self.path_for(one.path)
            if file is not None and one.suppressed is None:
                by_file.setdefault(file, []).append(one)
                asked.setdefault(file, one.path)
        hidden: set[int] = set()
        remarks: list[str] = []
        skipped = {os.path.abspath(one.path) for one in report.skipped}
        folders = [os.path.abspath(path) for path in paths]
        for file, path in asked.items():
            baseline = self.read(path)
            if baseline is None:
                continue
            taken = baseline.accepted(
                by_file.get(file, []), lambda place: place not in skipped and is_in(place, folders)
            )
            hidden |= {id(one) for one in taken.findings}
            remarks += _gone(baseline, taken.gone) if all_rules else ()
        kept = tuple(one for one in report.diagnostics if id(one) not in hidden)
        return msgspec.structs.replace(
            report, diagnostics=kept, accepted=len(hidden), remarks=(*report.remarks, *remarks)
        )

    def renewed(self, report: Report, paths: Sequence[str]) -> dict[str, tuple[Entry, ...]]:
        """The entries of each baseline that accepts all that is found; those of files that were not linted stay."""
        found: dict[str, list[Diagnostic]] = {}
        for path in paths:
            if (file := self.path_for(path)) is not None:
                found.setdefault(file, [])
        for one in report.diagnostics:
            file = self.path_for(one.path)
            if file is not None and one.suppressed is None:
                found.setdefault(file, []).append(one)
        folders = [os.path.abspath(path) for path in paths]
        unread = {os.path.abspath(one.path) for one in report.skipped}
        renewed = {}
        for file, diagnostics in found.items():
            old = read_baseline(file, conflicts=True) if os.path.exists(file) else empty_baseline(file)
            # What was not looked at stays; what was renamed or is gone does not.
            stays = [
                entry
                for entry in old.entries
                if old.place(entry) in unread
                or (not is_in(old.place(entry), folders) and os.path.exists(old.place(entry)))
            ]
            renewed[file] = tuple(sorted({*stays, *map(old.entry, diagnostics)}))
        return renewed


def _gone(baseline: Baseline, entries: Sequence[Entry]) -> Iterable[str]:
    """What a user is told of entries that nothing is found for: a baseline with them hides what comes back."""
    for one in entries[:_MOST_GONE]:
        yield f"{shown(baseline.path)}: no longer found: {one.code} in {one.path} ({one.fingerprint})"
    if entries:
        more = len(entries) - _MOST_GONE
        begin = f"{more} more are no longer found; " if more > 0 else ""
        yield f"{shown(baseline.path)}: {begin}`xlalint baseline` takes out what is no longer found"


def on_changed_lines(report: Report, revision: str, paths: Sequence[str]) -> Report:
    """Only what stands on lines that changed since ``revision``. Raises ``ConfigurationError``."""
    since = ChangesSince(revision)
    try:
        for path in paths:
            since.of(path)
        kept = tuple(one for one in report.diagnostics if one.suppressed is not None or _is_new(one, since))
    except NoChanges as error:
        raise ConfigurationError(f"--diff-against: {error}") from error
    return msgspec.structs.replace(report, diagnostics=kept, untouched=len(report.diagnostics) - len(kept))


def _is_new(one: Diagnostic, since: ChangesSince) -> bool:
    return since.of(one.path).touches(os.path.realpath(one.path), one.at.line, one.at.end_line)
