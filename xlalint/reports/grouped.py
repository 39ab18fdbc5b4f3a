"""How a report tells that several places have one root."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from xlalint.facts.events import RootKind
from xlalint.findings.model import Diagnostic
from xlalint.findings.roots import Group, cause_of, groups
from xlalint.reports.summary import plural

MOST_PLACES: Final = 12
"""So many places are listed; the JSON has all."""
_WITHOUT_PLACE: Final = frozenset({RootKind.HABIT, RootKind.STATEMENT, RootKind.TEST})
"""Kinds of roots whose text tells where they stand, or that stand at no one place."""


def shown_groups(diagnostics: Iterable[Diagnostic]) -> tuple[Group, ...]:
    """The groups, each of which is shown as one; what a device judged place by place is shown so."""
    told = tuple(diagnostics)
    if any(one.evidence is not None for one in told):
        return tuple(Group(one) for one in told)
    return groups(told)


def others_told(group: Group) -> str:
    """The root and the other places, as "and 7 more places by `mask`, line 40: lines 43, 45; XLA303 lines 50, …"."""
    if not group.others:
        return ""
    lines: dict[tuple[str, str], list[int]] = {}
    for one in group.others:
        lines.setdefault((one.path, one.code), []).append(one.at.line)
    left = MOST_PLACES
    told = []
    for (path, code), numbers in lines.items():
        some = list(dict.fromkeys(numbers))[: max(left, 0)]
        left -= len(some)
        if some:
            told.append(_places(path, code, some, group.shown))
    return f"{others_counted(group)}: {'; '.join(told)}" + (", …" if left <= 0 else "")


def others_counted(group: Group) -> str:
    """The same without the places: "and 7 more places by `mask`, line 40"."""
    cause = cause_of(group.shown)
    where = "" if cause.kind in _WITHOUT_PLACE else f", {_where(cause.path, cause.line, group.shown.path)}"
    return f"and {plural(len(group.others), 'more place')} by {cause.text}{where}"


def line_of(one: Diagnostic, here: str) -> str:
    """Where a finding stands, as a finding of the file ``here`` says it."""
    return _where(one.path, one.at.line, here)


def _where(path: str, line: int, here: str) -> str:
    return f"line {line}" if path == here else f"{path}:{line}"


def _places(path: str, code: str, lines: list[int], shown: Diagnostic) -> str:
    rule = "" if code == shown.code else f"{code} "
    where = "" if path == shown.path else f"{path} "
    return f"{rule}{where}{'lines' if len(lines) > 1 else 'line'} {', '.join(map(str, lines))}"
