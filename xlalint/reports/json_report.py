"""The report for programs: one JSON object, described by ``docs/findings.schema.json``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Final

import msgspec

from xlalint.findings.model import Cause, Diagnostic, Fix, Mode, Position, Report, Skipped, UsedProfile
from xlalint.findings.roots import cause_of, groups
from xlalint.reports import evidence
from xlalint.reports.context import ReportContext, shown
from xlalint.reports.ranking import Ranked, most_costly

SCHEMA_VERSION: Final = 2


def render(report: Report, context: ReportContext) -> str:
    diagnostics = shown(report, context)
    document = {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "xlalint", "version": context.version},
        "findings": [_finding(diagnostic) for diagnostic in diagnostics],
        "skipped": [_skipped(skipped) for skipped in report.skipped],
        "summary": _summary(report, diagnostics, context),
        **({"remarks": list(report.remarks)} if report.remarks else {}),
        **({"profiles": [_profile(used) for used in report.profiles]} if report.profiles else {}),
    }
    return _text(document) + "\n"


def _skipped(skipped: Skipped) -> dict[str, object]:
    part = {"line": skipped.line, "function": skipped.function} if skipped.line else {}
    return {"path": skipped.path, "reason": skipped.reason, "internal": skipped.internal, **part}


def _text(document: dict[str, object]) -> str:
    try:
        return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()
    except UnicodeEncodeError:  # the name of a file is not UTF-8: only the slower encoder takes it
        return json.dumps(document, indent=2, ensure_ascii=False)


def _profile(used: UsedProfile) -> dict[str, object]:
    device = used.device
    return {"path": used.path, "device": {"kind": device.kind, "torch": device.torch, "torch_xla": device.torch_xla}}


def _summary(report: Report, diagnostics: Sequence[Diagnostic], context: ReportContext) -> dict[str, object]:
    roots = groups(diagnostics)
    by_code = Counter(diagnostic.code for diagnostic in diagnostics)
    return {
        "files": report.files,
        "findings": len(diagnostics),
        "roots": len(roots),
        "by_code": {code: by_code[code] for code in sorted(by_code)},
        "most_costly": [_costly(one) for one in most_costly(roots, context.measured)],
        "seconds": round(report.seconds, 3),
        **({"accepted": report.accepted} if report.accepted else {}),
        **({"untouched": report.untouched} if report.untouched else {}),
        **({"held_back": msgspec.to_builtins(report.held_back)} if report.held_back is not None else {}),
    }


def _costly(one: Ranked) -> dict[str, object]:
    shown = one.group.shown
    return {
        "root": cause_of(shown).id,
        "path": shown.path,
        "line": shown.at.line,
        "code": shown.code,
        "places": len(one.group.members),
        "metric": one.cost.metric,
        "amount": round(one.cost.amount, 3),
        "often": one.cost.often,
    }


def _finding(diagnostic: Diagnostic) -> dict[str, object]:
    return {
        "path": diagnostic.path,
        **_range(diagnostic.at),
        "code": diagnostic.code,
        "name": diagnostic.name,
        "family": diagnostic.family,
        "severity": diagnostic.severity.name.lower(),
        "certainty": diagnostic.certainty.name.lower(),
        "heat": diagnostic.heat.name.lower(),
        "modes": [mode.value for mode in Mode if mode in diagnostic.modes],
        "message": diagnostic.message,
        "help": diagnostic.help,
        "why": [
            {"path": reason.path, "line": reason.line, "column": reason.column, "text": reason.text}
            for reason in diagnostic.why
        ],
        "fix": None if diagnostic.fix is None else _fix(diagnostic.fix),
        "fingerprint": diagnostic.fingerprint,
        "root": _root(cause_of(diagnostic)),
        "evidence": None if diagnostic.evidence is None else evidence.as_json(diagnostic.evidence),
    }


def _root(cause: Cause) -> dict[str, object]:
    return {
        "id": cause.id,
        "kind": cause.kind.value,
        "path": cause.path,
        "line": cause.line,
        "column": cause.column,
        "text": cause.text,
    }


def _fix(fix: Fix) -> dict[str, object]:
    return {
        "title": fix.title,
        "safety": fix.safety.value,
        "edits": [{**_range(edit.at), "content": edit.content} for edit in fix.edits],
    }


def _range(at: Position) -> dict[str, int]:
    return {"line": at.line, "column": at.column, "end_line": at.end_line, "end_column": at.end_column}
