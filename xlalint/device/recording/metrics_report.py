"""Reads a metrics report (``torch_xla.debug.metrics.metrics_report()``): totals, and nothing by line. No torch."""

from __future__ import annotations

import re

from xlalint.device.recording.counts import Counts
from xlalint.device.recording.inside.meter import COMPILES, EXECUTIONS, READ_OF_A_SCALAR, READS, UPLOADS

_VALUE = re.compile(r"^(?:Metric|Counter): (?P<name>\S+)\s*\n\s*(?:TotalSamples|Value): (?P<value>\d+)", re.MULTILINE)


def is_metrics_report(text: str) -> bool:
    return "Compilation Analysis:" not in text and bool(_VALUE.search(text))


def totals_of(text: str) -> Counts:
    values = {found["name"]: int(found["value"]) for found in _VALUE.finditer(text)}

    def of(*names: str) -> int:
        return sum(values.get(name, 0) for name in names)

    fallbacks = (name for name in values if name.startswith("aten::") and name != READ_OF_A_SCALAR)
    return Counts(
        compiles=of(*COMPILES),
        executions=of(*EXECUTIONS),
        reads=of(*READS),
        uploads=of(*UPLOADS),
        fallbacks=of(*fallbacks),
    )
