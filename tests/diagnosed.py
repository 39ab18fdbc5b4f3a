"""A finding made by hand, for tests of what is done with findings."""

from __future__ import annotations

from typing import Any

from xlalint.facts.events import Certainty, Heat
from xlalint.findings.model import Diagnostic, Mode, Position, Severity


def diagnostic(**changes: Any) -> Diagnostic:
    """A scalar read in every step, of which nothing more is told unless ``changes`` do."""
    fields: dict[str, Any] = {
        "path": "x.py",
        "at": Position(1, 1, 1, 2),
        "code": "XLA101",
        "name": "scalar-read-in-step",
        "family": "host-transfer",
        "severity": Severity.WARNING,
        "certainty": Certainty.LIKELY,
        "heat": Heat.STEP,
        "modes": (Mode.LAZY,),
        "message": "",
        "help": "",
        "why": (),
        "fix": None,
        "fingerprint": "0",
    }
    return Diagnostic(**{**fields, **changes})
