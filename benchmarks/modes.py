"""Compiles, executions and graph breaks of known models in each mode, measured by the recorder of `xlalint trace`.

`python benchmarks/modes.py` writes the table of docs/modes.md; it needs the extra `bench`. With names of models only
their rows are measured anew.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from xlalint.device.recording.inside.files import owner
from xlalint.device.trace.launch import launch
from xlalint.device.trace.steady_state import trace_of_folder
from xlalint.findings.model import Mode

PROGRAM = Path(__file__).parent / "programs" / "train_step.py"
PAGE = Path(__file__).parent.parent / "docs" / "modes.md"
MODELS = (
    "resnet18",
    "resnet50",
    "bert",
    "resnext50_32x4d",
    "alexnet",
    "mobilenet_v2",
    "mnasnet1_0",
    "vgg16",
    "vit_tiny_patch16_224",
    "squeezenet1_1",
)
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"


class Way(msgspec.Struct, frozen=True):
    """How a model is run."""

    name: str
    mode: Mode
    arguments: tuple[str, ...] = ()
    models: tuple[str, ...] = MODELS
    """Those that it is shown for."""


WAYS = (
    Way("lazy", Mode.LAZY),
    Way("dynamo, model only", Mode.DYNAMO),
    Way("dynamo, whole step", Mode.LAZY, ("whole-step",)),
    Way("dynamo, whole step, Adam", Mode.LAZY, ("whole-step", "adam"), ("resnet18",)),
    Way("eager", Mode.EAGER),
)


class Row(msgspec.Struct, frozen=True):
    model: str
    way: str
    cells: tuple[str, ...]


def measured(model: str, way: Way) -> Row:
    roots = [str(PROGRAM.parent)]
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as output:
        command = (sys.executable, str(PROGRAM), model, *way.arguments)
        status = launch(command, way.mode, Path(folder), roots, output)
        trace = trace_of_folder(Path(folder), way.mode, status, owner(roots))
        output.seek(0)
        breaks = re.search(r"GRAPH_BREAKS (\d+)", output.read().decode())
    if status or not breaks or not trace.processes:
        return Row(model, way.name, (f"failed with exit code {status}", "-", "-"))
    (process,) = trace.processes
    rates = process.per_step
    a_step = f"{rates.executions:g}" if rates is not None else "-"
    return Row(model, way.name, (str(process.totals.compiles), a_step, breaks[1]))


def table(rows: Sequence[Row]) -> Iterator[str]:
    yield "| model | mode | compiles in all | executions a step | graph breaks |"
    yield "| --- | --- | --- | --- | --- |"
    yield from map(_row, rows)


def _row(row: Row) -> str:
    return f"| {row.model} | {row.way} | {' | '.join(row.cells)} |"


def main(models: Sequence[str]) -> None:
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    old, _, tail = rest.partition(END)
    rows = dict(_rows(old))
    for model in models or MODELS:
        for way in (each for each in WAYS if model in each.models):
            rows[(model, way.name)] = measured(model, way)
            print(_row(rows[(model, way.name)]), flush=True)
    ordered = [rows[key] for model in MODELS for way in WAYS if (key := (model, way.name)) in rows]
    PAGE.write_text(head + "\n".join([BEGIN, *table(ordered), END]) + tail, encoding="utf-8")


def _rows(text: str) -> Iterator[tuple[tuple[str, str], Row]]:
    """The rows of a table that was written before."""
    for line in text.strip().splitlines()[2:]:
        model, way, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        yield (model, way), Row(model, way, tuple(cells))


if __name__ == "__main__":
    main(sys.argv[1:])
