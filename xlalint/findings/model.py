"""Findings, rules and edits: plain frozen data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum, IntEnum

import msgspec

from xlalint.facts.events import Certainty, Event, Facts, Heat, Span


class Severity(IntEnum):
    NOTE = 0
    WARNING = 1
    ERROR = 2


class Safety(Enum):
    SAFE = "safe"
    """Behaviour stays, but for what the device does."""
    UNSAFE = "unsafe"
    """May change values or types; to be read before it is kept."""


class Mode(Enum):
    LAZY = "lazy"
    DYNAMO = "dynamo"
    EAGER = "eager"


class Edit(msgspec.Struct, frozen=True):
    """A fix as data: one of the closed set of edits that ``xlalint.edits`` implements, with its arguments.

    ``kind`` names the edit, ``span`` the node it works on, ``arguments`` what it needs, as text.
    """

    kind: str
    span: Span
    title: str
    safety: Safety
    arguments: tuple[str, ...] = ()


class Rule(msgspec.Struct, frozen=True):
    """What a rule is. Its check is the function ``check(facts)`` of the same module."""

    code: str
    name: str
    family: str
    severity: Severity
    modes: frozenset[Mode] = frozenset(Mode)
    """The modes in which the cost was measured."""
    default: bool = True
    """Whether it is on unless the user says otherwise."""
    needs_xla: bool = False
    """A habit that is right on other devices: flagged only where torch_xla is in use."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule says of one event."""

    rule: Rule
    at: Event
    message: str
    help: str
    fix: Edit | None = None
    severity: Severity | None = None
    """Only where it differs from the rule's own."""
    span: Span | None = None
    """Only where the finding stands elsewhere than its event."""


Check = Callable[[Facts], Iterator[Finding]]


class Position(msgspec.Struct, frozen=True, order=True):
    """A place as it is shown: 1-based, columns in Unicode code points, end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


class TextEdit(msgspec.Struct, frozen=True):
    """Replace the text of a range."""

    at: Position
    content: str


class Fix(msgspec.Struct, frozen=True):
    title: str
    safety: Safety
    edits: tuple[TextEdit, ...]


class Reason(msgspec.Struct, frozen=True):
    path: str
    line: int
    column: int
    text: str


class Diagnostic(msgspec.Struct, frozen=True, kw_only=True):
    """A finding anchored in its file: all that a report needs."""

    path: str
    at: Position
    code: str
    name: str
    family: str
    severity: Severity
    certainty: Certainty
    heat: Heat
    modes: tuple[Mode, ...]
    message: str
    help: str
    why: tuple[Reason, ...]
    fix: Fix | None
    fingerprint: str
    suppressed: str | None = None
    """The suppression comment that covers it, or None: shown only in SARIF and with ``--ignore-suppressions``."""


class Skipped(msgspec.Struct, frozen=True):
    path: str
    reason: str


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one run."""

    diagnostics: tuple[Diagnostic, ...]
    """Sorted by path, line, column, code; suppressed ones included."""
    skipped: tuple[Skipped, ...]
    files: int
    seconds: float
    named_missing: tuple[str, ...] = ()
