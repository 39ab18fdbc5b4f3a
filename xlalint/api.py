"""The public interface for rules: nothing else of xlalint may be imported by one."""

from xlalint.facts.events import FEW_SHAPES, Certainty, Effect, Event, Facts, Heat, Place, RootKind, Span
from xlalint.findings.model import Check, Edit, Finding, Mode, Neutral, Rule, Safety, Severity
from xlalint.findings.wording import how_often

__all__ = [
    "FEW_SHAPES",
    "Certainty",
    "Check",
    "Edit",
    "Effect",
    "Event",
    "Facts",
    "Finding",
    "Heat",
    "Mode",
    "Neutral",
    "Place",
    "RootKind",
    "Rule",
    "Safety",
    "Severity",
    "Span",
    "how_often",
]
