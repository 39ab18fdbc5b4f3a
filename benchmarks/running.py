"""Running the tools that are compared, and showing what came of it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Run:
    """One command that has ended.

    ``wall`` and ``cpu`` are seconds, ``cpu`` with all processes that the command started and waited for.
    ``peak`` is the resident memory of the largest one process among them, in MB (Linux counts in kB).
    """

    wall: float
    cpu: float
    peak: float
    status: int
    output: str
    errors: str


class Failed(Exception):
    """A command did not do what a figure needs. The message says which, with the end of what it printed."""


def run(command: Sequence[str], *, cwd: Path | None = None, allowed: Sequence[int] = (0, 1)) -> Run:
    """Run ``command`` to its end, and measure it.

    Raises ``Failed`` on an exit status that isn't ``allowed``: linters say 1 where they found something.
    """
    # What is installed has its bytecode; a checkout gets it in its first run, unless the environment forbids that.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=output, stderr=errors, cwd=cwd, env=environment)
        # Not `wait`: only this call gives the usage of this one command.
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        ended = Run(
            wall=wall,
            cpu=usage.ru_utime + usage.ru_stime,
            peak=usage.ru_maxrss / 1024,
            status=process.returncode,
            output=output.read().decode("utf-8", "replace"),
            errors=errors.read().decode("utf-8", "replace"),
        )
    if ended.status not in allowed:
        raise Failed(
            f"`{Path(command[0]).name}` ended with {ended.status}: {(ended.errors or ended.output)[-500:].strip()}"
        )
    return ended


def best(command: Sequence[str], *, repeat: int, cwd: Path | None = None, allowed: Sequence[int] = (0, 1)) -> Run:
    """The fastest of several runs: what else the machine does only adds to a time."""
    return min((run(command, cwd=cwd, allowed=allowed) for _ in range(repeat)), key=lambda ended: ended.wall)


def executable(name: str) -> str | None:
    """The path of a command: as given, beside this interpreter, or on PATH."""
    if os.sep in name:
        return str(Path(name).resolve()) if Path(name).exists() else None
    beside = Path(sys.executable).with_name(name)
    return str(beside) if beside.exists() else shutil.which(name)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A markdown table with aligned columns."""
    cells = [list(head), *[list(row) for row in rows]]
    widths = [max(3, *(len(row[column]) for row in cells)) for column in range(len(head))]
    cells.insert(1, ["-" * width for width in widths])
    return "\n".join(
        f"| {' | '.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))} |" for row in cells
    )
