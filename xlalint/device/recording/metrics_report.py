"""Reads a metrics report (``torch_xla.debug.metrics.metrics_report()``): totals, and nothing by line. No torch."""

from __future__ import annotations

import re

from xlalint.device.recording.counts import Amounts, Counts
from xlalint.device.recording.inside.meter import (
    COMPILES,
    EXECUTIONS,
    READ_BYTES,
    READ_OF_A_SCALAR,
    READS,
    UPLOADED_BYTES,
    UPLOADS,
)

_VALUE = re.compile(r"^(?:Metric|Counter): (?P<name>\S+)\s*\n\s*(?:TotalSamples|Value): (?P<value>\d+)", re.MULTILINE)

_SUM = re.compile(r"^Metric: (?P<name>\S+)\s*\n\s*TotalSamples: \d+\s*\n\s*Accumulator: (?P<sum>\S+)", re.MULTILINE)
_PART = re.compile(r"([\d.]+)(TB|GB|MB|KB|B|d|h|ms|us|ns|m|s)")
_UNITS = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9} | {
    unit: 1024.0**power for power, unit in enumerate(("B", "KB", "MB", "GB", "TB"))
}


def is_metrics_report(text: str) -> bool:
    return "Compilation Analysis:" not in text and bool(_VALUE.search(text))


def totals_of(text: str) -> Counts:
    values = {found["name"]: int(found["value"]) for found in _VALUE.finditer(text)}

    def of(*names: str) -> int:
        return sum(values.get(name, 0) for name in names)

    fallbacks = filter(_falls_back, values)
    return Counts(
        compiles=of(*COMPILES),
        executions=of(*EXECUTIONS),
        reads=of(*READS),
        uploads=of(*UPLOADS),
        fallbacks=of(*fallbacks),
    )


def amounts_of(text: str) -> Amounts:
    sums = {found["name"]: _amount(found["sum"]) for found in _SUM.finditer(text)}
    values = {found["name"]: int(found["value"]) for found in _VALUE.finditer(text)}
    return Amounts(
        compile_seconds=sum(sums.get(name, 0.0) for name in COMPILES),
        read_bytes=int(sums.get(READ_BYTES, 0)),
        uploaded_bytes=int(sums.get(UPLOADED_BYTES, 0)),
        fallback_ops={name: count for name, count in values.items() if _falls_back(name)},
    )


def _falls_back(counter: str) -> bool:
    return counter.startswith("aten::") and counter != READ_OF_A_SCALAR


def _amount(text: str) -> float:
    """``04m39s346ms`` in seconds, ``1.50MB`` in bytes."""
    return sum(float(number) * _UNITS[unit] for number, unit in _PART.findall(text))
