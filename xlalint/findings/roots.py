"""Roots of findings: what causes several of them, and the groups that they form."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from xlalint.facts.events import Root, RootKind
from xlalint.findings.model import Cause, Diagnostic, Position


class Group(msgspec.Struct, frozen=True):
    """The findings of one root: the one that is shown, and the others in the order of the report."""

    shown: Diagnostic
    others: tuple[Diagnostic, ...] = ()

    @property
    def members(self) -> tuple[Diagnostic, ...]:
        return (self.shown, *self.others)


def groups(diagnostics: Iterable[Diagnostic]) -> tuple[Group, ...]:
    """The findings by root, in the order of those that are shown: of each root the first of the highest level."""
    members: dict[str, list[Diagnostic]] = {}
    for one in diagnostics:
        members.setdefault(cause_of(one).id, []).append(one)
    found = []
    for each in members.values():
        shown = max(each, key=lambda one: one.severity)
        found.append(Group(shown, tuple(one for one in each if one is not shown)))
    return tuple(sorted(found, key=lambda group: (group.shown.path, group.shown.at, group.shown.code)))


def cause_of(diagnostic: Diagnostic) -> Cause:
    """The root of a finding; of one that stands alone its own place."""
    if diagnostic.root is not None:
        return diagnostic.root
    path, at = diagnostic.path, diagnostic.at
    name = _name(path, RootKind.PLACE, f"{diagnostic.code} {at}")
    text = f"{diagnostic.code} {diagnostic.name}"
    return Cause(id=name, kind=RootKind.PLACE, path=path, line=at.line, column=at.column, text=text)


def cause(root: Root, at: Position) -> Cause:
    """A root as it is shown, at the place where it stands."""
    name = _name(root.path, root.kind, root.key)
    return Cause(id=name, kind=root.kind, path=root.path, line=at.line, column=at.column, text=root.text)


def _name(path: str, kind: RootKind, key: str) -> str:
    """Sixteen hexadecimal digits that tell a root from all others of a run."""
    import hashlib  # it loads OpenSSL, for nothing where there is no finding

    told = "\x00".join((path, kind.value, key))
    return hashlib.blake2b(told.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
