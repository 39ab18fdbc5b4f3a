"""Applies rules to the facts of one file: findings become sorted diagnostics with places and fingerprints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

import msgspec

from xlalint.facts.effect_traits import AT_ANY_HEAT
from xlalint.facts.events import Certainty, Event, Facts, Heat, Root, RootKind, Span, Step
from xlalint.facts.failures import Analysed
from xlalint.findings.directives import Directive
from xlalint.findings.fingerprint import fingerprints
from xlalint.findings.model import (
    Cause,
    Diagnostic,
    Edit,
    Finding,
    Fix,
    Judged,
    Mode,
    Position,
    Reason,
    Rule,
    Severity,
    Skipped,
)
from xlalint.findings.places import Anchors, Lines, position_of
from xlalint.findings.purpose import treatment
from xlalint.findings.registry import Loaded
from xlalint.findings.roots import cause
from xlalint.findings.selection import FileIgnores, counts_in, covers, is_selected, modes_of, severity_of
from xlalint.findings.settings import Configuration
from xlalint.findings.suppression import UNUSED, Suppressions
from xlalint.sources.layout import Layout, Statement
from xlalint.sources.source import Source

TextEdits = Callable[[Edit, Source, Span], "Fix | None"]
"""The text edits of a fix, given the span of the statement that it is made in; None if it can't be made there."""
LinesOf = Callable[[str], "Lines | None"]
"""The lines of another file of the chain of reasons, by its path, for its columns."""


class Tools(msgspec.Struct, frozen=True):
    """Functions of later stages. Without them spans are only converted, and there are no fixes."""

    anchors: Callable[[Source, Lines], Anchors] | None = None
    text_edits: TextEdits | None = None
    lines_of: LinesOf | None = None


class Judge:
    """Applies the rules of one configuration to one file after another."""

    def __init__(self, configuration: Configuration, rules: Sequence[Loaded]) -> None:
        settings = configuration.settings
        self._configuration = configuration
        self._rules = tuple(rules)
        self._active = [
            one for one in rules if is_selected(one.rule, configuration) and counts_in(one.rule, configuration)
        ]
        self._ignores = FileIgnores(configuration)
        self._reports_unused = is_selected(UNUSED, configuration)
        self._least = Certainty[settings.min_certainty.upper()]

    def __reduce__(self) -> tuple[type[Judge], tuple[Configuration, tuple[Loaded, ...]]]:
        # Patterns are compiled and can't be sent to another process.
        return (Judge, (self._configuration, self._rules))

    def check(self, source: Source, analysed: Analysed, tools: Tools | None = None) -> Judged:
        """All diagnostics of one file, suppressed ones marked, and the rules that failed."""
        facts = analysed.facts
        ignored = self._ignores.of(source.path)
        treated = treatment(source.path, analysed.needs_cuda, self._configuration)
        if treated == "skip":
            return Judged(source.path, imports_xla=analysed.imports_xla)
        draft = _Draft(source, tools or Tools(), is_lower=treated == "lower", needs_cuda=analysed.needs_cuda)
        active = [one for one in self._active if not covers(ignored, one.rule)]
        everything = sorted(self._placed(active, facts, draft), key=_order)
        placed = [one for one in everything if not one.is_held_back]
        numbered = zip(placed, fingerprints(draft.names(placed)), strict=True)
        kept = [(one, name) for one, name in _one_per_event(numbered) if one.finding.at.certainty >= self._least]
        draft.note_first_places(one for one, _ in kept)
        found = [self._diagnostic(one, name, draft) for one, name in kept]
        if self._reports_unused and not covers(ignored, UNUSED):
            known = [one.rule for one in self._rules]
            found.extend(draft.unused_suppressions(known, [one.rule for one in active], self._level(UNUSED)))
        found.sort(key=lambda one: (one.at, one.code))
        held = self._held_back(everything, draft) if len(placed) < len(everything) else ()
        return Judged(source.path, tuple(found), tuple(draft.failures), held, analysed.imports_xla)

    def _held_back(self, everything: Iterable[_Placed], draft: _Draft) -> tuple[str, ...]:
        """The codes of what more would be told if the file ran on XLA: what no other finding of its event tells."""
        told = [one for one, _ in _one_per_event((one, "") for one in everything)]
        more = (one for one in told if one.is_held_back and one.finding.at.certainty >= self._least)
        return tuple(one.finding.rule.code for one in more if not draft.is_covered(one))

    def _placed(self, active: Iterable[Loaded], facts: Facts, draft: _Draft) -> Iterator[_Placed]:
        for loaded in active:
            for finding in draft.findings(loaded, facts):
                at = draft.position(finding.span or finding.at.span)
                yield _Placed(finding, at, draft.statement_at(at.line))

    def _diagnostic(self, placed: _Placed, name: str, draft: _Draft) -> Diagnostic:
        finding = placed.finding
        rule, event = finding.rule, finding.at
        modes = modes_of(rule, self._configuration)
        return Diagnostic(
            path=draft.source.path,
            at=placed.at,
            code=rule.code,
            name=rule.name,
            family=rule.family,
            severity=self._severity(finding, draft),
            certainty=event.certainty,
            heat=event.heat,
            modes=tuple(mode for mode in Mode if mode in modes),
            message=finding.message,
            help=finding.help,
            why=(*draft.reasons(event, placed.at), *draft.also(placed)),
            fix=draft.fix(finding.fix),
            fingerprint=name,
            suppressed=draft.suppressed(placed),
            repeats=event.repeats,
            loop_line=event.loop_line,
            neutral=finding.neutral or rule.neutral,
            package=finding.package,
            root=draft.cause(event.root),
        )

    def _severity(self, finding: Finding, draft: _Draft) -> Severity:
        level = self._level(finding.rule, finding.severity)
        if finding.at.heat is Heat.CALL and finding.at.effect not in AT_ANY_HEAT:
            return min(level, Severity.NOTE)
        # What runs in evaluation only costs less often, what a test has read is there already, and a test's own cost or
        # that of code for GPUs is no user's: one level lower.
        is_less = finding.at.evaluation or finding.at.behind_root or draft.is_lower
        return Severity(max(Severity.NOTE, level - 1)) if is_less else level

    def _level(self, rule: Rule, own: Severity | None = None) -> Severity:
        override = severity_of(rule, self._configuration.settings.severity)
        if override is not None:
            return Severity[override.upper()]
        return own if own is not None else rule.severity


def check_file(
    source: Source, facts: Facts, configuration: Configuration, rules: Sequence[Loaded], tools: Tools | None = None
) -> Judged:
    """The diagnostics of one file; where there are many files, make one ``Judge`` for all."""
    return Judge(configuration, rules).check(source, Analysed(facts), tools)


class _Placed(msgspec.Struct, frozen=True):
    finding: Finding
    at: Position
    statement: Statement
    others: tuple[_Placed, ...] = ()
    """Findings of other rules about the same event."""

    @property
    def is_held_back(self) -> bool:
        """Whether it is a habit that is right elsewhere, in a file that does not run on XLA."""
        return self.finding.rule.needs_xla and not self.finding.at.uses_xla


class _Draft:
    """One file while its diagnostics are made. The text is scanned only if there is something to say of it."""

    def __init__(self, source: Source, tools: Tools, *, is_lower: bool = False, needs_cuda: str = "") -> None:
        self.source = source
        self.is_lower = is_lower
        self._needs_cuda = needs_cuda
        self._tools = tools
        self._used: set[Directive] = set()
        self.failures: list[Skipped] = []
        self._first_places: dict[tuple[RootKind, str], Position] = {}

    def findings(self, loaded: Loaded, facts: Facts) -> Iterator[Finding]:
        """The findings of one rule. A rule that raises is reported as a failure, and the others go on."""
        try:
            yield from loaded.check(facts)
        except Exception as error:
            told = " ".join(str(error).split())
            reason = f"rule {loaded.rule.code} failed: {type(error).__name__}: {told}"
            self.failures.append(Skipped(self.source.path, reason, internal=True))

    @cached_property
    def _lines(self) -> list[str]:
        return self.source.lines()

    @cached_property
    def _layout(self) -> Layout:
        return Layout("\n".join(self._lines))

    @cached_property
    def _suppressions(self) -> Suppressions:
        return Suppressions(self.source.text, self._layout)

    @cached_property
    def _anchors(self) -> Anchors | None:
        return self._tools.anchors(self.source, self._lines) if self._tools.anchors is not None else None

    def position(self, span: Span) -> Position:
        """The exact place where there is one; else where the fast reading has it, for no finding may get lost."""
        exact = None
        if self._anchors is not None:
            exact = self._anchors.anchor(span, self._statement_span(span.line))
        return position_of(self._lines, span) if exact is None else exact

    def statement_at(self, line: int) -> Statement:
        return self._layout.statement_at(line)

    def _statement_span(self, line: int) -> Span:
        found = self._layout.code_at(line)
        return Span(found.line, found.column, found.end_line, found.end_column)

    def names(self, placed: Iterable[_Placed]) -> list[tuple[str, str, str]]:
        return [(one.finding.rule.code, one.finding.at.scope, one.statement.text) for one in placed]

    def reasons(self, event: Event, at: Position) -> Iterator[Reason]:
        for step in event.why:
            yield self._reason(step)
        here = (self.source.path, at.line, at.column)
        if self._needs_cuda and self.is_lower:
            yield Reason(*here, f"only where there is a GPU: this file imports `{self._needs_cuda}`")
        for guard in event.guards:
            yield Reason(*here, f"only where `{guard}`")
        if event.assumed_of:
            text = f"assumed to run in every step: {event.assumed_of} has no caller in the linted files"
            yield Reason(*here, text)
        elif event.assumed_hot:
            yield Reason(*here, "assumed to run in every step: this function has no caller in the linted files")

    def also(self, placed: _Placed) -> Iterator[Reason]:
        for other in placed.others:
            rule = other.finding.rule
            yield Reason(self.source.path, other.at.line, other.at.column, f"this is {rule.code} {rule.name} too")

    def note_first_places(self, placed: Iterable[_Placed]) -> None:
        """Where the first finding of each root stands, for roots that have no place of their own."""
        for one in placed:
            root = one.finding.at.root
            if root is not None:
                self._first_places.setdefault((root.kind, root.key), one.at)

    def cause(self, root: Root | None) -> Cause | None:
        if root is None:
            return None
        if root.span is None:
            return cause(root, self._first_places[root.kind, root.key])
        return cause(root, self._shown_at(root.path, root.span))

    def fix(self, edit: Edit | None) -> Fix | None:
        if edit is None or self._tools.text_edits is None:
            return None
        return self._tools.text_edits(edit, self.source, self._statement_span(edit.span.line))

    def suppressed(self, placed: _Placed) -> str | None:
        directive = self._covering(placed)
        if directive is None:
            return None
        self._used.add(directive)
        return directive.text

    def is_covered(self, placed: _Placed) -> bool:
        """Whether a comment would silence it; that the comment was of use is not noted."""
        return self._covering(placed) is not None

    def _covering(self, placed: _Placed) -> Directive | None:
        """A comment on the first or last line of the statement, or on a line that is shown."""
        at, statement = placed.at, placed.statement
        shown = range(at.line, min(at.end_line, statement.last) + 1)
        return self._suppressions.covering(placed.finding.rule, {statement.first, statement.last, at.line, *shown})

    def unused_suppressions(
        self, rules: Sequence[Rule], active: Sequence[Rule], level: Severity
    ) -> Iterator[Diagnostic]:
        useless = self._suppressions.useless(self._used, rules, active)
        rows = [(UNUSED.code, "", self._lines[one.directive.line - 1]) for one in useless]
        for one, name in zip(useless, fingerprints(rows), strict=True):
            directive = one.directive
            end = directive.column + len(directive.text)
            yield Diagnostic(
                path=self.source.path,
                at=Position(directive.line, directive.column, directive.line, end),
                code=UNUSED.code,
                name=UNUSED.name,
                family=UNUSED.family,
                severity=level,
                certainty=Certainty.CERTAIN,
                heat=Heat.ONCE,
                modes=tuple(Mode),
                message=one.message,
                help=one.help,
                why=(),
                fix=None,
                fingerprint=name,
            )

    def _shown_at(self, path: str, span: Span) -> Position:
        lines: Lines | None = self._lines
        if path != self.source.path:
            lines = self._tools.lines_of(path) if self._tools.lines_of is not None else None
        return position_of(lines or (), span)

    def _reason(self, step: Step) -> Reason:
        at = self._shown_at(step.path, step.span)
        return Reason(step.path, at.line, at.column, step.text)


def _order(placed: _Placed) -> tuple[Position, int, str]:
    """The sort key: by place; at one place the most severe first."""
    finding = placed.finding
    level = finding.severity if finding.severity is not None else finding.rule.severity
    return (placed.at, -level, finding.rule.code)


def _one_per_event(numbered: Iterable[tuple[_Placed, str]]) -> list[tuple[_Placed, str]]:
    """Keeps one finding per event; its reasons name the other rules that flag it."""
    first: dict[tuple[Span, object], int] = {}
    kept: list[tuple[_Placed, str]] = []
    for placed, name in numbered:
        event = placed.finding.at
        key = (event.span, event.effect)
        if key not in first:
            first[key] = len(kept)
            kept.append((placed, name))
            continue
        leader, leader_name = kept[first[key]]
        codes = {one.finding.rule.code for one in (leader, *leader.others)}
        if placed.finding.rule.code not in codes:
            grown = msgspec.structs.replace(leader, others=(*leader.others, placed))
            kept[first[key]] = (grown, leader_name)
    return kept
