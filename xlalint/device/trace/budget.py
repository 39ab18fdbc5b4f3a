"""What a steady step may cost: kept in a file beside the program, and held against a run. Pure, but for the file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from xlalint.device.recording.counts import Counts
from xlalint.device.trace.confirmation import TraceReport
from xlalint.device.trace.model import TracedProcess
from xlalint.findings.model import Mode

_HEAD: Final = """\
# What a steady step of the program may cost, by mode; `compiles` are those of all steps after the warm-up.
# `xlalint trace --budget {name} -- …` holds a run against it, `--update-budget` writes it anew.
"""
Figures = dict[str, float]


class NoBudget(Exception):
    """A file can't be read or is no budget. One line."""


class Budget(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Of one mode."""

    compiles: float = 0
    executions: float = 0
    reads: float = 0
    uploads: float = 0
    fallbacks: float = 0
    functions: dict[str, Figures] = {}
    """What each function of the program costs in a steady step: they keep their names where lines move."""


def read_budget(path: Path) -> dict[str, Budget]:
    """By mode."""
    try:
        return msgspec.toml.decode(path.read_bytes(), type=dict[str, Budget])
    except OSError as error:
        raise NoBudget(f"{path}: {error.strerror or error}") from error
    except (msgspec.DecodeError, ValueError) as error:
        raise NoBudget(f"{path}: no budget: {error}") from error


def write_budget(path: Path, budgets: dict[str, Budget]) -> None:
    parts = [_HEAD.format(name=path.name)]
    for mode, budget in budgets.items():
        rows = [f"{name} = {getattr(budget, name):g}" for name in Counts.__struct_fields__]
        parts.append("\n".join([f"[{mode}]", *rows, ""]))
        for function, figures in sorted(budget.functions.items()):
            rows = [f"{name} = {figure:g}" for name, figure in figures.items()]
            parts.append("\n".join([f"[{mode}.functions.{json.dumps(function)}]", *rows, ""]))
    try:
        path.write_text("\n".join(parts), encoding="utf-8")
    except OSError as error:
        raise NoBudget(f"{path}: {error.strerror or error}") from error


def budget_of(report: TraceReport) -> Budget:
    """What the run cost: of several processes, the one that costs most."""
    processes = report.trace.processes
    rates = [process.per_step for process in processes if process.per_step is not None]
    figures = {name: max((getattr(one, name) for one in rates), default=0.0) for name in Counts.__struct_fields__}
    figures["compiles"] = max((_compiles(process) for process in processes), default=0)
    functions: dict[str, Figures] = {}
    for process in processes:
        for name, figure in _by_function(process).items():
            known = functions.setdefault(name, {})
            for metric, count in figure.items():
                known[metric] = max(known.get(metric, 0.0), count)
    return Budget(**figures, functions=functions)


def over(budget: Budget, report: TraceReport) -> Iterator[str]:
    """A sentence for each figure that the run exceeds, with the lines of the functions that grew."""
    if not any(process.steps for process in report.trace.processes):
        yield "the run has no steps that could be held against it"
        return
    found = budget_of(report)
    for metric in Counts.__struct_fields__:
        allowed, figure = getattr(budget, metric), getattr(found, metric)
        if figure <= allowed:
            continue
        what = "after the warm-up" if metric == "compiles" else "in a steady step"
        yield f"{figure:g} {metric} {what}, the budget is {allowed:g}{_grown(budget, found, report, metric)}"


def is_below(budget: Budget, report: TraceReport) -> bool:
    """Whether the budget could be lower."""
    found = budget_of(report)
    return any(getattr(found, metric) < getattr(budget, metric) for metric in Counts.__struct_fields__)


def mode_of(mode: Mode | None) -> str:
    return mode.value if mode is not None else Mode.LAZY.value


def _compiles(process: TracedProcess) -> int:
    return sum(step.counts.compiles for step in process.steps if not step.warm_up)


def _by_function(process: TracedProcess) -> dict[str, Figures]:
    found: dict[str, Figures] = {}
    for line in process.lines:
        for metric in Counts.__struct_fields__:
            rate = getattr(line.per_step, metric) if line.per_step is not None else 0
            if rate and metric != "compiles":
                figures = found.setdefault(_function(line.total.path, line.total.function), {})
                figures[metric] = round(figures.get(metric, 0.0) + rate, 4)
    return found


def _grown(budget: Budget, found: Budget, report: TraceReport, metric: str) -> str:
    if metric == "compiles":
        graphs = [graph for process in report.trace.processes for graph in process.recompiles]
        told = [f"{one.at[0]}:{one.at[1]}, step {one.step} ({one.differs})" for one in graphs if one.at]
        return f": {'; '.join(told[:3])}" if told else ""
    grown = {
        name
        for name, figures in found.functions.items()
        if figures.get(metric, 0.0) > budget.functions.get(name, {}).get(metric, 0.0)
    }
    lines = [line for line in report.lines if _function(line.total.path, line.total.function) in grown]
    costly = [(getattr(line.per_step, metric, 0.0), line.total) for line in lines]
    ordered = sorted(costly, key=lambda pair: -pair[0])
    told = [f"{line.path}:{line.line} in {line.function} ({rate:g})" for rate, line in ordered if rate]
    return f": {'; '.join(told[:3])}" if told else ""


def _function(path: str, function: str) -> str:
    return f"{path} {function}"
