"""A page's experiment: run its programs, compare them with what the page claims, write the figures down."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from xlalint.device.worker.experiment import Figures, Worker, measure
from xlalint.device.worker.protocol import Versions
from xlalint.findings.model import Mode
from xlalint.findings.pages import Block, Claim, Experiment, Page, Sides

HEADING = "## Measured"
_ALWAYS_SHOWN = ("compiles", "executions", "reads", "uploads", "fallbacks")
_TOLERANCE = 0.005
"""Figures are written with two digits after the point."""


class Measured(msgspec.Struct, frozen=True):
    """One program of a page in one mode."""

    block: Block
    experiment: Experiment
    mode: Mode
    figures: Figures


def measure_page(page: Page, worker: Worker, seconds: float = 60.0) -> tuple[Measured, ...]:
    """Run every program of ``page`` in the modes of its experiment; one run may take ``seconds``.

    An experiment with ``env`` runs in a worker of its own, for the environment must be there before the import.
    """
    # The programs are the rules' own. Where they need no network they have none, and so no port but theirs is open.
    network = worker.versions.device != "CPU"
    results: list[Measured] = []
    for block in page.blocks:
        experiment = page.experiment_of(block)
        if experiment is None or (experiment.devices > 1 and network):
            continue
        text = page.program_of(block)
        for mode in experiment.modes:
            if experiment.devices > 1:
                figures = measure(worker, text, mode, experiment.steps, seconds, devices=experiment.devices)
            elif experiment.env:
                with worker.beside(experiment.env) as own:
                    figures = measure(own, text, mode, experiment.steps, seconds, network=network)
            else:
                figures = measure(worker, text, mode, experiment.steps, seconds, network=network)
            results.append(Measured(block, experiment, mode, figures))
    return tuple(results)


def disagreements(results: tuple[Measured, ...]) -> Iterator[str]:
    """One line for each claim of the page that the device does not confirm."""
    for result in results:
        block = result.block
        where = f"{block.kind} {block.label}".strip() + f" at line {block.line}, {result.mode.value}"
        wrong = _raises_otherwise(result) if _must_raise(result) else _counts_otherwise(result, results)
        yield from (f"{where}: {line}" for line in wrong)


def measured_section(results: tuple[Measured, ...], versions: Versions) -> str:
    """The section that ends a page. No times in it: shared machines make them noise."""
    metrics = list(_ALWAYS_SHOWN)
    for result in results:
        metrics += [name for name in _named(result.experiment) if name not in metrics and name != "host_seconds"]
    lines = [HEADING, "", _row("program", "mode", *metrics), _row(*["---"] * (len(metrics) + 2))]
    for result in results:
        name = f"{result.block.kind} {result.block.label}".strip()
        lines.append(_row(name, result.mode.value, *(_cell(result.figures, metric) for metric in metrics)))
    steps = " or ".join(sorted({f"{result.figures.steps} to {2 * result.figures.steps}" for result in results}))
    device = f"torch {versions.torch}, torch_xla {versions.torch_xla}, {versions.device} device"
    return "\n".join([*lines, "", f"Growth a step, from {steps} steps; in parentheses what comes once. {device}.", ""])


def with_figures(text: str, section: str) -> str:
    """The page's text with ``section`` in place of what it had."""
    head, _, _ = text.partition(f"\n{HEADING}\n")
    return f"{head.rstrip()}\n\n{section}"


def _must_raise(result: Measured) -> bool:
    return result.experiment.raises is not None and result.block.kind == "bad"


def _raises_otherwise(result: Measured) -> Iterator[str]:
    failure = result.figures.failure
    raised = failure.type if failure else None
    if raised != result.experiment.raises:
        yield f"raises {raised}, claimed {result.experiment.raises}"


def _counts_otherwise(result: Measured, results: tuple[Measured, ...]) -> Iterator[str]:
    failure = result.figures.failure
    if failure:
        yield f"fails with {failure.type} in its line {failure.line}: {failure.message}"
        return
    bad = result.block.kind == "bad"
    claims = result.experiment.claims(result.mode)
    claim = (claims.bad if bad else claims.good) or Claim()
    metric = result.experiment.metric
    figures = result.figures
    expected = {metric: (claim.per_step, claim.once if claim.once is not None else _side(claims.once, bad))}
    expected.update({name: (_side(sides, bad), None) for name, sides in claims.also.items()})
    for name, (per_step, once) in expected.items():
        if name == "raises":
            continue
        if per_step is not None and abs(figures.per_step[name] - per_step) > _TOLERANCE:
            yield f"{name} {figures.per_step[name]:g} a step, claimed {per_step:g}"
        if once is not None and abs(figures.once[name] - once) > _TOLERANCE:
            yield f"{name} {figures.once[name]:g} once, claimed {once:g}"
    if claim.at_least is not None:
        ratio = _ratio_to_good(result, results)
        if ratio < claim.at_least:
            yield f"{metric} {ratio:g} times that of good, claimed at least {claim.at_least:g}"


def _ratio_to_good(result: Measured, results: tuple[Measured, ...]) -> float:
    metric = result.experiment.metric
    for other in results:
        if other.block.kind == "good" and other.experiment == result.experiment and other.mode == result.mode:
            good = other.figures.per_step.get(metric, 0.0)
            return result.figures.per_step[metric] / good if good > 0 else float("inf")
    return 0.0


def _side(sides: Sides | None, bad: bool) -> float | None:
    if sides is None:
        return None
    return sides.bad if bad else sides.good


def _named(experiment: Experiment) -> tuple[str, ...]:
    return (experiment.metric, *experiment.also)


def _cell(figures: Figures, metric: str) -> str:
    if metric == "raises":
        return figures.failure.type if figures.failure else "nothing"
    if figures.failure:
        return "-"
    once = round(figures.once[metric], 2)
    grown = f"{round(figures.per_step[metric], 2) + 0.0:g}"
    return f"{grown} ({once:+g})" if once else grown


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
