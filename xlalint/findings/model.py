"""Findings, rules and edits: plain frozen data."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum, IntEnum
from typing import Literal, TypeAlias

import msgspec

from xlalint.facts.events import Certainty, Event, Facts, Heat, RootKind, Span


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


class Neutral(Enum):
    """How a flagged place is run without its cost: the closed set of ``xlalint.slicing.instrumentation``."""

    REPLAY = "replay"
    """What it gave in the first step it gives again in the others."""
    REPLAY_TRUTH = "replay-truth"
    """The same of its truth, for a test."""
    REPLAY_BATCH = "replay-batch"
    """The same of what is made on the host; both times it goes to the device, as a batch does."""
    REPLAY_BACKWARD = "replay-backward"
    """The same of what costs in the backward pass; both times there is one."""
    REPLAY_UPDATE = "replay-update"
    """The same of what works on gradients; both times the step's own backward pass makes them."""
    FIRST_ONLY = "first-only"
    """The statement around it runs in the first step only, or its value is given again."""
    BOUNDARY = "boundary"
    """Each step ends by a boundary."""
    LEFT_OUT = "left-out"
    """The statement is left out."""
    MODE_LEFT_OUT = "mode-left-out"
    """The same of a switch of the mode, in a step with a forward in both modes."""
    WITHOUT_GRAPH = "without-graph"
    """The same value, without the graph that made it."""
    LOADED_AHEAD = "loaded-ahead"
    """What a loop iterates comes from a loader that moves it to the device ahead of the steps."""
    ARGUMENT = "argument"
    """The first argument of the call stands in its place; what costs is the loop that uses it."""
    NOTHING = "nothing"
    """There is nothing to compare with: it raises, or it doesn't."""


class Rule(msgspec.Struct, frozen=True):
    """The metadata of a rule. Its check is the function ``check(facts)`` of the same module."""

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
    neutral: Neutral = Neutral.REPLAY
    """What it is compared with on the device."""
    whole_step: bool = False
    """Its cost shows in what the rest of the step does, and not in the flagged place: a device runs all of the step."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One rule's judgement of one event."""

    rule: Rule
    at: Event
    message: str
    help: str
    fix: Edit | None = None
    severity: Severity | None = None
    """Only where it differs from the rule's own."""
    span: Span | None = None
    """Only where the finding stands elsewhere than its event."""
    neutral: Neutral | None = None
    """Only where it differs from the rule's own."""
    package: str = ""
    """The installed package whose source costs, where it is not the user's own."""


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


class Verdict(Enum):
    CONFIRMED = "confirmed"
    """The difference that the rule claims was counted, at this place."""
    REFUTED = "refuted"
    """It ran, and cost nothing."""
    NOT_RUN = "not-run"


class Basis(Enum):
    """The basis of a verdict: computed by the program's own statements, or assumed."""

    RUN = "run"
    """The program itself, with its own command line and data."""
    SCRIPT = "script"
    """A script that leads to the place was run, from its command line to its steps; data, files and devices that are
    not there were stood in for."""
    SLICE = "slice"
    """The flagged value was computed by the program's own statements, from what stands in at the border."""
    ASSUMED = "assumed"
    """The flagged value, or what makes it vary, was itself a stand-in."""


class LineCost(msgspec.Struct, frozen=True):
    """What fell on one line of the program that was run, by the place in the file that it is from."""

    path: str
    line: int
    compiles: int = 0
    executions: int = 0
    reads: int = 0
    uploads: int = 0


Growth: TypeAlias = Literal["none", "once", "bounded", "per-step"]
"""How a cost grows with the steps."""


class ModeEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict and figures of one mode. ``before`` and ``after`` are totals of the longer run, with and without the
    flagged cost; ``per_step`` is the difference that each further step makes."""

    verdict: Verdict
    reason: str
    before: dict[str, float] = {}
    after: dict[str, float] = {}
    per_step: dict[str, float] = {}
    growth: Growth = "none"
    lines: tuple[LineCost, ...] = ()


class Device(msgspec.Struct, frozen=True):
    kind: str
    torch: str
    torch_xla: str


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """The verdicts and figures of a device for one finding."""

    verdict: Verdict
    reason: str
    basis: Basis | None
    """None where nothing was run."""
    assumptions: tuple[str, ...]
    device: Device
    modes: dict[Mode, ModeEvidence]
    metric: str = ""
    """The cost that the rule claims."""
    program: str = ""
    neutral_program: str = ""


class Cause(msgspec.Struct, frozen=True, kw_only=True):
    """The root of a finding as it is shown. Findings with the same ``id`` are caused by one decision."""

    id: str
    kind: RootKind
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
    repeats: int = 1
    """How often it runs in one step, by the bounds of the loops around it."""
    loop_line: int = 0
    """Where the loop begins that makes it hot, if that is in the same file."""
    neutral: Neutral = Neutral.REPLAY
    """What a device compares it with."""
    package: str = ""
    """The installed package whose source costs: what a device runs may import it."""
    evidence: Evidence | None = None
    """What a device said of it; None before ``validate``."""
    root: Cause | None = None
    """What causes it; None where that is the place itself, and nothing else comes of it."""


class Skipped(msgspec.Struct, frozen=True):
    """What was not linted: a file, or, where ``line`` is not 0, the part of it that begins there.

    ``internal`` tells a bug of the linter, or a bound that it met, from a file that can't be read or parsed.
    """

    path: str
    reason: str
    line: int = 0
    function: str = ""
    internal: bool = False

    @property
    def place(self) -> str:
        """The file, and the line and the function where it is not all of it."""
        where = f"{self.path}:{self.line}" if self.line else self.path
        return f"{where}: in {self.function}" if self.function else where


class Judged(msgspec.Struct, frozen=True):
    """The result for one file; ``path`` as it is shown."""

    path: str
    diagnostics: tuple[Diagnostic, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    held_back: tuple[str, ...] = ()
    """The codes of what would be found, each once for each finding, if the file ran on XLA."""
    imports_xla: bool = False


class HeldBack(msgspec.Struct, frozen=True):
    """What a run without torch_xla does not tell: rules about habits that are right elsewhere."""

    rules: tuple[str, ...]
    findings: int
    """How many more there would be."""


class UsedProfile(msgspec.Struct, frozen=True):
    """A profile that held for some of the files: its path, and what it was measured on."""

    path: str
    device: Device


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one run."""

    diagnostics: tuple[Diagnostic, ...]
    """Sorted by path, line, column, code; suppressed ones included."""
    skipped: tuple[Skipped, ...]
    files: int
    seconds: float
    named_missing: tuple[str, ...] = ()
    profiles: tuple[UsedProfile, ...] = ()
    held_back: HeldBack | None = None
    """None where some file imports torch_xla, or the user says whether it runs on XLA."""
    remarks: tuple[str, ...] = ()
    """What the user should know of how files were read, a line each."""
    accepted: int = 0
    """Findings that a baseline hides."""
    untouched: int = 0
    """Findings on lines that have not changed since the revision that is asked for."""
