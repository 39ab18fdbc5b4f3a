"""Traces real programs and writes what `xlalint trace` says of them into docs/traced-programs.md.

`python benchmarks/traced.py --python PYTHON --mirrors DIR [NAME…]`: PYTHON has torch_xla and the frameworks, DIR the
git directories of the repositories whose scripts are traced (`OWNER+NAME/repo`). Programs whose material is absent are
passed over. With names only their rows are measured anew.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

HERE = Path(__file__).parent / "programs" / "real"
PAGE = Path(__file__).parent.parent / "docs" / "traced-programs.md"
BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"
_HEAD = (
    "program",
    "steps made",
    "steps told",
    "compiles",
    "after the warm-up",
    "graphs a step",
    "reads a step",
    "uploads a step",
    "costliest line of a library",
)


class Program(msgspec.Struct, frozen=True):
    name: str
    script: str
    steps: str
    """How many its owner would count."""
    repository: str = ""
    """``OWNER/NAME`` where it is not ours."""
    part: str = "."
    """Of the repository; its root may hold a package that is installed."""
    arguments: tuple[str, ...] = ()
    smaller: tuple[tuple[str, str, str], ...] = ()
    """File, text, and what stands in its place: sizes for the CPU device."""


PROGRAMS = (
    Program("transformers Trainer", "trainer.py", "6"),
    Program("Lightning module", "lightning_fit.py", "16"),
    Program("accelerate loop", "accelerate_loop.py", "16 + 8 of the evaluation"),
    Program("denoising loop of diffusers", "denoising.py", "6"),
    Program("pipeline of diffusers", "pipeline.py", "10"),
    Program(
        "ResNet of torch_xla's examples",
        "examples/train_resnet_base.py",
        "12",
        repository="pytorch/xla",
        part="examples",
        smaller=tuple(
            ("examples/train_resnet_base.py", old, new)
            for old, new in (
                ("img_dim = 224", "img_dim = 32"),
                ("batch_size = 128", "batch_size = 4"),
                ("num_steps = 300", "num_steps = 12"),
                ("resnet50", "resnet18"),
            )
        ),
    ),
    Program(
        "minGPT's adder, put on the device",
        "projects/adder/adder.py",
        "8",
        repository="karpathy/minGPT",
        arguments=("--trainer.device=xla", "--trainer.max_iters=8", "--trainer.num_workers=0"),
        smaller=(
            ("projects/adder/adder.py", "import torch\n", "import torch\nimport torch_xla\n"),
            ("projects/adder/adder.py", "iter_num % 500 == 0", "iter_num % 500 == 499"),
        ),
    ),
)


class Absent(Exception):
    """What a program needs is not there."""


def traced(program: Program, python: str, mirrors: Path | None) -> dict[str, Any]:
    """The report of the trace, in a folder that is thrown away."""
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder)
        if program.repository:
            _unpack(program, mirrors, where)
        else:
            (where / program.script).write_bytes((HERE / program.script).read_bytes())
        command = [sys.executable, "-m", "xlalint", "trace", "--isolated", "--output-format", "json", "--"]
        environment = {**os.environ, "PYTHONPATH": folder}
        run = subprocess.run(
            [*command, python, program.script, *program.arguments],
            cwd=where,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
    if not run.stdout:
        raise Absent(run.stderr.strip().rpartition("\n")[2])
    document: dict[str, Any] = json.loads(run.stdout)
    if document["exit_code"]:
        raise Absent(f"exit code {document['exit_code']}: {run.stderr.strip().rpartition(chr(10))[2]}")
    return document


def _unpack(program: Program, mirrors: Path | None, where: Path) -> None:
    directory = (mirrors or Path("mirrors")) / program.repository.replace("/", "+") / "repo"
    if not directory.is_dir():
        raise Absent(f"no {directory}")
    command = ["git", "--git-dir", str(directory), "archive", "HEAD", program.part]
    packed = subprocess.run(command, capture_output=True, check=True)
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        archive.extractall(where, filter="data")
    for name, old, new in program.smaller:
        text = (where / name).read_text(encoding="utf-8")
        if old not in text:
            raise Absent(f"{name} has no `{old}`")
        (where / name).write_text(text.replace(old, new), encoding="utf-8")


def row(program: Program, report: dict[str, Any]) -> str:
    (process, *_) = report["processes"]
    rates = process["per_step"] or {}
    evaluation = sum(not updates for updates in process["updates"]) if any(process["updates"]) else 0
    told = f"{report['steps'] - evaluation} + {evaluation} of the evaluation" if evaluation else str(report["steps"])
    cells = (
        program.name,
        program.steps,
        told,
        str(report["totals"]["compiles"]),
        str(len(report["recompiles"])),
        *(f"{rates.get(metric, 0):.3g}" for metric in ("executions", "reads", "uploads")),
        _costliest(report),
    )
    return f"| {' | '.join(cells)} |"


def _costliest(report: dict[str, Any]) -> str:
    lines = [inner for line in report["lines"] for inner in line["library"]]
    costly = [one for one in lines if one["reads"] or one["fallbacks"] or one["executions"]]
    if not costly:
        return ""
    one = max(costly, key=lambda each: (each["reads"] + each["fallbacks"], each["executions"]))
    path = "/".join(Path(one["path"]).parts[-2:])
    return f"`{path}:{one['line']}` {one['function']}"


def _rows(text: str) -> Iterator[tuple[str, str]]:
    """The rows of a table that was written before."""
    for line in text.strip().splitlines()[2:]:
        yield line.strip("|").split("|")[0].strip(), line


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--mirrors", type=Path)
    chosen = parser.parse_args()
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    old, _, tail = rest.partition(END)
    rows = dict(_rows(old))
    for program in PROGRAMS:
        if chosen.names and program.name not in chosen.names:
            continue
        try:
            rows[program.name] = row(program, traced(program, chosen.python, chosen.mirrors))
            print(rows[program.name], flush=True)
        except Absent as error:
            print(f"{program.name}: passed over, {error}", flush=True)
    table = [f"| {' | '.join(_HEAD)} |", "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
    ordered = [rows[program.name] for program in PROGRAMS if program.name in rows]
    PAGE.write_text(head + "\n".join([BEGIN, *table, *ordered, END]) + tail, encoding="utf-8")


if __name__ == "__main__":
    main()
