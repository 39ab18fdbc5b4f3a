"""SARIF 2.1.0, with what GitHub code scanning reads of it.

The limits are GitHub's own ("SARIF support for code scanning" in its documentation): 25,000 results to a run, 100
locations to a result and 10 tags to a rule that are shown, 1,024 characters to a description. Regions stay on one
line, because a pull request shows an alert only if the change holds all its lines.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import quote

import attr
import msgspec
import sarif_om as om  # type: ignore[import-untyped]

from xlalint.facts.events import Heat
from xlalint.findings.model import Diagnostic, Fix, Mode, Reason, Report, Safety, Severity, Skipped, TextEdit
from xlalint.findings.roots import Group, cause_of
from xlalint.reports import evidence
from xlalint.reports.address import help_uri, information_uri
from xlalint.reports.context import ReportContext, RuleCard, shown
from xlalint.reports.grouped import line_of, others_counted, shown_groups
from xlalint.reports.line_hash import line_hashes
from xlalint.sources.patterns import lazy_pattern

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_RESULTS: Final = "\ue000results\ue000"
"""Stands for the results while the rest of the log is made."""
MOST_IN_RUN: Final = 25_000
_MOST_RELATED: Final = 100
_MOST_TAGS: Final = 10
_LONGEST_DESCRIPTION: Final = 1024
_MOST_RESULTS: Final = 10
"""So many findings of one root are results of their own."""
_LOOKS_LIKE_LINK = lazy_pattern(r"\[([^\[\]]*)\](?=\()")
_FILES_AT_HAND: Final = 16
"""Results come file by file, but a chain of reasons leads into others."""
_PROBLEM: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "recommendation"}


def written(report: Report, context: ReportContext) -> Iterator[str]:
    """The log in pieces: of the results one at a time is made and written."""
    rules = _rules(report.diagnostics, context.rules)
    kept, left_out = _most_important(_grouped(report, context))
    log = om.SarifLog(version="2.1.0", schema_uri=_SCHEMA, runs=[_run(report, context, rules, left_out)])
    before, after = json.dumps(_plain(log), indent=2, ensure_ascii=False).split(f'"{_RESULTS}"')
    write = _Results(context, {code: index for index, code in enumerate(rules)})
    indent = " " * (len(before) - len(before.rstrip(" ")))
    # An empty list stands on one line.
    yield before if kept else before.rstrip()
    for number, group in enumerate(kept):
        # A line each: indentation would double the size of what is uploaded.
        yield (f",\n{indent}" if number else "") + json.dumps(_plain(write.result(group)), ensure_ascii=False)
    yield (after if kept else after.lstrip()) + "\n"


def limit_met(report: Report, context: ReportContext) -> str:
    """Whether results are left out, and how many."""
    _, left_out = _most_important(_grouped(report, context))
    return _left_out_told(left_out) if left_out else ""


def _left_out_told(left_out: int) -> str:
    return f"SARIF for GitHub holds {MOST_IN_RUN:,} results: the {left_out:,} least severe and least hot are left out"


def _run(report: Report, context: ReportContext, rules: Mapping[str, RuleCard], left_out: int) -> Any:
    driver = om.ToolComponent(
        name="xlalint",
        version=context.version,
        semantic_version=context.version,
        information_uri=information_uri(),
        rules=[_descriptor(card) for card in rules.values()],
    )
    return om.Run(
        tool=om.Tool(driver=driver),
        automation_details=om.RunAutomationDetails(id="xlalint/"),
        column_kind="unicodeCodePoints",
        invocations=[_invocation(report, context, left_out)],
        results=[_RESULTS],
        properties={"profiles": msgspec.to_builtins(report.profiles)} if report.profiles else None,
    )


def _most_important(groups: Sequence[Group]) -> tuple[Sequence[Group], int]:
    """The most severe and the hottest, in the order of the report, and how many are left out."""
    left_out = len(groups) - MOST_IN_RUN
    if left_out <= 0:
        return groups, 0
    ranked = sorted(range(len(groups)), key=lambda at: _importance(groups[at]), reverse=True)
    return [groups[at] for at in sorted(ranked[:MOST_IN_RUN])], left_out


def _importance(group: Group) -> tuple[bool, Severity, Heat]:
    found = group.shown
    return found.suppressed is None, found.severity, found.heat


def _grouped(report: Report, context: ReportContext) -> list[Group]:
    """Results in the order of the report: a root with many places is one, all other findings stand for themselves."""
    told = shown(report, context)
    large = [group for group in shown_groups(told) if len(group.members) > _MOST_RESULTS]
    inside = {id(one) for group in large for one in group.members}
    alone = [Group(one) for one in report.diagnostics if id(one) not in inside]
    return sorted([*large, *alone], key=lambda group: (group.shown.path, group.shown.at, group.shown.code))


def _rules(diagnostics: Sequence[Diagnostic], cards: Mapping[str, RuleCard]) -> dict[str, RuleCard]:
    """All rules, those without findings too, by code; one without a card gets what its finding tells."""
    found = {diagnostic.code: diagnostic for diagnostic in diagnostics}
    return {code: cards.get(code) or _card(found[code]) for code in sorted({*cards, *found})}


def _card(diagnostic: Diagnostic) -> RuleCard:
    words = diagnostic.name.replace("-", " ").capitalize()
    return RuleCard(
        code=diagnostic.code,
        name=diagnostic.name,
        family=diagnostic.family,
        severity=diagnostic.severity,
        description=f"{words}.",
        page=f"# `{diagnostic.name}` ({diagnostic.code})\n\n{diagnostic.help}\n",
        precision="medium",
    )


def _descriptor(card: RuleCard) -> Any:
    description = om.MultiformatMessageString(text=_shortened(card.description))
    return om.ReportingDescriptor(
        id=card.code,
        name=card.name,
        short_description=description,
        full_description=description,
        help_uri=help_uri(card.code),
        help=om.MultiformatMessageString(text=_without_markup(card.page), markdown=card.page),
        default_configuration=om.ReportingConfiguration(level=card.severity.name.lower()),
        properties={
            "precision": card.precision,
            "problem.severity": _PROBLEM[card.severity],
            "tags": ["performance", "pytorch", "xla", card.family][:_MOST_TAGS],
        },
    )


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_DESCRIPTION else text[: _LONGEST_DESCRIPTION - 1] + "…"


def _without_markup(page: str) -> str:
    lines = (line for line in page.splitlines() if not line.startswith("```"))
    return "\n".join(line.lstrip("#").lstrip() if line.startswith("#") else line for line in lines)


def _invocation(report: Report, context: ReportContext, left_out: int) -> Any:
    """What could not be read or was not there is told here: it has no rule."""
    skipped = [_notification(one, context) for one in report.skipped]
    missing = [
        om.Notification(level="error", message=om.Message(text=f"{path} does not exist"))
        for path in report.named_missing
    ]
    remarks = [om.Notification(level="note", message=om.Message(text=remark)) for remark in report.remarks]
    if left_out:
        remarks.append(om.Notification(level="warning", message=om.Message(text=_left_out_told(left_out))))
    return om.Invocation(
        execution_successful=not report.named_missing and not any(one.internal for one in report.skipped),
        tool_execution_notifications=[*skipped, *missing, *remarks],
    )


def _notification(skipped: Skipped, context: ReportContext) -> Any:
    region = om.Region(start_line=skipped.line) if skipped.line else None
    return om.Notification(
        level="error" if skipped.internal else "warning",
        message=om.Message(text=f"{skipped.place} was not linted: {skipped.reason}"),
        locations=[om.Location(physical_location=_artifact(skipped.path, context, region))],
    )


class _Results:
    """Makes results; holds what many of them share, such as the line hashes of a file."""

    def __init__(self, context: ReportContext, rule_index: Mapping[str, int]) -> None:
        self._context = context
        self._rule_index = rule_index
        self._lines: Callable[[str], list[str] | None] = lru_cache(_FILES_AT_HAND)(context.sources)
        self._hashes: Callable[[str], list[str]] = lru_cache(1)(lambda path: line_hashes(self._lines(path) or [""]))

    def result(self, group: Group) -> Any:
        diagnostic = group.shown
        related = list(self._related([*diagnostic.why, *map(_as_reason, group.others)][:_MOST_RELATED]))
        return om.Result(
            rule_id=diagnostic.code,
            rule_index=self._rule_index[diagnostic.code],
            level=diagnostic.severity.name.lower(),
            message=om.Message(text=_message(group)),
            locations=[om.Location(physical_location=self._place(diagnostic))],
            related_locations=related or None,
            code_flows=[self._flow(diagnostic)] if diagnostic.why else None,
            fixes=[self._fix(diagnostic.path, diagnostic.fix)] if diagnostic.fix else None,
            partial_fingerprints=self._fingerprints(diagnostic),
            suppressions=self._suppressions(diagnostic),
            properties={
                "certainty": diagnostic.certainty.name.lower(),
                "family": diagnostic.family,
                "heat": diagnostic.heat.name.lower(),
                "modes": [mode.value for mode in Mode if mode in diagnostic.modes],
                "root": cause_of(diagnostic).id,
                **({"evidence": evidence.as_json(diagnostic.evidence)} if diagnostic.evidence is not None else {}),
            },
        )

    def _suppressions(self, diagnostic: Diagnostic) -> list[Any]:
        # An empty list says "not suppressed"; SARIF wants the property on all results of a run or on none.
        if diagnostic.suppressed is None or self._context.ignore_suppressions:
            return []
        return [om.Suppression(kind="inSource", justification=diagnostic.suppressed)]

    def _fingerprints(self, diagnostic: Diagnostic) -> dict[str, str]:
        prints = {"xlalint/v1": diagnostic.fingerprint}
        lines = self._lines(diagnostic.path)
        if lines is not None and diagnostic.at.line <= len(lines):
            prints["primaryLocationLineHash"] = self._hashes(diagnostic.path)[diagnostic.at.line - 1]
        return prints

    def _place(self, diagnostic: Diagnostic) -> Any:
        at = diagnostic.at
        if at.end_line == at.line:
            end: int | None = at.end_column
        else:
            end = self._end_of_line(diagnostic.path, at.line)
        region = om.Region(start_line=at.line, start_column=at.column, end_line=at.line, end_column=end)
        return _artifact(diagnostic.path, self._context, region)

    def _end_of_line(self, path: str, line: int) -> int | None:
        """None, which is SARIF's own word for the end of the line, where the text is not at hand."""
        lines = self._lines(path)
        return len(lines[line - 1].rstrip()) + 1 if lines is not None and line <= len(lines) else None

    def _related(self, why: Sequence[Reason]) -> Iterator[Any]:
        for number, reason in enumerate(why, start=1):
            location = self._reason(reason)
            location.id = number
            yield location

    def _flow(self, diagnostic: Diagnostic) -> Any:
        steps = [self._reason(reason) for reason in diagnostic.why]
        last = diagnostic.why[-1]
        if (last.path, last.line, last.column) != (diagnostic.path, diagnostic.at.line, diagnostic.at.column):
            message = om.Message(text=_without_links(diagnostic.message))
            steps.append(om.Location(physical_location=self._place(diagnostic), message=message))
        locations = [om.ThreadFlowLocation(location=step) for step in steps]
        return om.CodeFlow(thread_flows=[om.ThreadFlow(locations=locations)])

    def _reason(self, reason: Reason) -> Any:
        region = om.Region(
            start_line=reason.line,
            start_column=reason.column,
            end_line=reason.line,
            end_column=self._end_of_line(reason.path, reason.line),
        )
        place = _artifact(reason.path, self._context, region)
        return om.Location(physical_location=place, message=om.Message(text=_without_links(reason.text)))

    def _fix(self, path: str, fix: Fix) -> Any:
        caution = " (unsafe: read it before you keep it)" if fix.safety is Safety.UNSAFE else ""
        change = om.ArtifactChange(
            artifact_location=_artifact(path, self._context).artifact_location,
            replacements=[_replacement(edit) for edit in fix.edits],
        )
        return om.Fix(description=om.Message(text=fix.title + caution), artifact_changes=[change])


def _as_reason(other: Diagnostic) -> Reason:
    return Reason(other.path, other.at.line, other.at.column, f"{other.code} {other.message}")


def _message(group: Group) -> str:
    """GitHub shows the first sentence in lists, and a related location only where the text links to it."""
    diagnostic = group.shown
    parts = [_without_links(diagnostic.message)]
    if diagnostic.evidence is not None:
        parts.append(f"On the device {evidence.headline(diagnostic.evidence)}.")
    if diagnostic.help:
        parts.append(f"Help: {_without_links(diagnostic.help)}")
    if diagnostic.why:
        links = (
            f"[{_link_text(reason.text)}]({number})"
            for number, reason in enumerate(diagnostic.why[:_MOST_RELATED], start=1)
        )
        parts.append(f"Why: {'; '.join(links)}")
    if group.others:
        first = len(diagnostic.why) + 1
        near = group.others[: max(_MOST_RELATED + 1 - first, 0)]
        places = [f"[{_link_text(line_of(one, diagnostic.path))}]({n})" for n, one in enumerate(near, start=first)]
        places += ["…"] if len(near) < len(group.others) else []
        told = others_counted(group)
        parts.append(f"{_without_links(told[:1].upper() + told[1:])}: {', '.join(places)}")
    return "\n\n".join(parts)


def _link_text(text: str) -> str:
    return text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")


def _without_links(text: str) -> str:
    """``fns[0](x)`` in a message would be read as a link from "0" to "x"."""
    return _LOOKS_LIKE_LINK.sub(r"\\[\1\\]", text)


def _replacement(edit: TextEdit) -> Any:
    at = edit.at
    return om.Replacement(
        deleted_region=om.Region(
            start_line=at.line, start_column=at.column, end_line=at.end_line, end_column=at.end_column
        ),
        inserted_content=om.ArtifactContent(text=edit.content),
    )


def _artifact(path: str, context: ReportContext, region: Any = None) -> Any:
    location = om.ArtifactLocation(uri=_uri(path, context.working_directory))
    return om.PhysicalLocation(artifact_location=location, region=region)


def _uri(path: str, working_directory: str) -> str:
    """Relative to the working directory; only a file outside of it that is named in full has an absolute one."""
    pure = PurePath(path)
    if pure.is_absolute():
        if not working_directory or not pure.is_relative_to(working_directory):
            return pure.as_uri()
        pure = pure.relative_to(working_directory)
    return quote(pure.as_posix(), errors="surrogateescape")


# What must be written even where it equals the default: a reader would otherwise take the level of the rule.
_ALWAYS: Final = frozenset({"level"})


def _plain(value: Any) -> Any:
    """As JSON. Left out are Nones and values that are the default: there ``-1`` stands for "none"."""
    if isinstance(value, list):
        return [_plain(element) for element in value]
    kind: Any = type(value)
    if not attr.has(type(value)):
        return value
    plain = {}
    for name, key, default in _properties(kind):
        part = getattr(value, name)
        if part is None or (part == default and key not in _ALWAYS):
            continue
        plain[key] = _plain(part)
    return plain


@cache
def _properties(kind: Any) -> tuple[tuple[str, str, object], ...]:
    return tuple((field.name, field.metadata["schema_property_name"], _default(field)) for field in attr.fields(kind))


def _default(field: attr.Attribute[Any]) -> object:
    make = getattr(field.default, "factory", None)
    return make() if make else field.default
