"""Why a finding's program gave no figures, in words."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from xlalint.device.worker.protocol import Failure

_LONGEST = 120
_TOLD: Mapping[str, str] = MappingProxyType(
    {
        "NotReached": "{message}",
        "NoSteps": "{message}",
        "Ended": "{message}",
        "NoValue": "{message}",
        "Unavailable": "a part that could not be had is asked for a value: {message}",
        "SystemExit": "its program ends by itself, with exit code {message}: its command line may ask for something",
        "TimedOut": "its program is {message}",
        "Died": "{message}",
        "TooMuchOutput": "its program {message}",
        "TooMuchTime": "its program {message}",
        "TooMuchMemory": "its program {message}",
        "TooManyProcesses": "its program {message}",
        "TooManyFiles": "its program {message}",
        "UnboundLocalError": "what sets a name is not reached with these stand-ins: {message}",
        "NameError": "its program lacks a name: {message}",
        "ModuleNotFoundError": "its program needs a package that is not installed: {message}",
    }
)
"""By the type of the failure; every other one is taken to come of stand-ins that do not fit."""


def failed(failure: Failure) -> str:
    """One line. A program that runs elsewhere failed here because of what stands in for its missing parts."""
    message = failure.message if len(failure.message) <= _LONGEST else f"{failure.message[: _LONGEST - 1]}…"
    told = _TOLD.get(failure.type)
    if told is not None:
        return told.format(message=message)
    shown = f"{failure.type}: {message}" if message else failure.type
    return f"the stand-ins do not fit: {shown}" if failure.lines else shown
