"""The last line of a text report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from xlalint.findings.model import Diagnostic, Report, Severity, Verdict


def summary_line(report: Report, diagnostics: Sequence[Diagnostic]) -> str:
    """What was found and in how many files, in one sentence."""
    skipped = _left_out(report)
    if not report.files:
        return f"No files checked ({skipped})." if skipped else "No files checked."
    told = ", ".join(filter(None, [skipped, *_hidden(report)]))
    aside = f", {told}" if told else ""
    checked = f"{plural(report.files, 'file')} checked"
    if not diagnostics:
        # What was not looked at is not clear, nor is what is hidden.
        begin = "Found nothing in what was linted" if skipped else "Found nothing new" if told else "All clear"
        return f"{begin}: {checked}{aside}."
    proved = _by_verdict(diagnostics)
    places = plural(len({diagnostic.path for diagnostic in diagnostics}), "file")
    return f"Found {_by_severity(diagnostics)} in {places} ({checked}{aside}){proved}."


def _hidden(report: Report) -> Iterator[str]:
    if report.accepted:
        yield f"{plural(report.accepted, 'finding')} accepted by the baseline"
    if report.untouched:
        yield f"{plural(report.untouched, 'finding')} on lines that have not changed"


def _left_out(report: Report) -> str:
    """How much was not linted; empty where all was."""
    whole = sum(not one.line for one in report.skipped)
    parts = len(report.skipped) - whole
    told = [f"{whole} skipped" if whole else "", f"{plural(parts, 'part')} of files not linted" if parts else ""]
    return ", ".join(filter(None, told))


def profile_lines(report: Report) -> Iterator[str]:
    """The device profiles that decided which costs were flagged."""
    for used in report.profiles:
        device = used.device
        measured = f"{device.kind} device, torch {device.torch}, torch_xla {device.torch_xla}"
        yield f"Costs as in the profile {used.path}: {measured}."


def held_back_line(report: Report) -> str:
    """That nothing imports torch_xla, and what is therefore not told; empty where something does."""
    held = report.held_back
    if held is None or not held.rules or not (held.findings or report.diagnostics):
        return ""
    rules = " and ".join(filter(None, [", ".join(held.rules[:-1]), held.rules[-1]]))
    verb = "was" if len(held.rules) == 1 else "were"
    more = f"--assume-xla gives {plural(held.findings, 'more finding')}" if held.findings else "they find nothing here"
    return f"Nothing here imports torch_xla: {rules} {verb} held back; {more}."


def _by_severity(diagnostics: Sequence[Diagnostic]) -> str:
    counts = Counter(diagnostic.severity for diagnostic in diagnostics)
    parts = [plural(counts[severity], severity.name.lower()) for severity in reversed(Severity) if counts[severity]]
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))


def _by_verdict(diagnostics: Sequence[Diagnostic]) -> str:
    """The number of findings by verdict, where a device ran them."""
    counts = Counter(each.evidence.verdict for each in diagnostics if each.evidence is not None)
    parts = [f"{counts[verdict]} {verdict.value.replace('-', ' ')}" for verdict in Verdict if counts[verdict]]
    return f": {', '.join(parts)}" if parts else ""


def plural(count: float, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
