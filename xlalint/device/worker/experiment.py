"""Run programs on the device at N and 2N steps and say what grows with the steps and what does not."""

from __future__ import annotations

import msgspec

from xlalint.device.recording.counts import LineCounts
from xlalint.device.worker.client import Worker, WorkerError
from xlalint.device.worker.protocol import MEMORY, Failure, Request
from xlalint.findings.model import Mode

__all__ = ["Figures", "Worker", "WorkerError", "measure"]


_CPU_SECONDS = 300


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """What a program costs in one mode.

    ``per_step`` is (total at 2N - total at N) / N, ``once`` is what remains: total at N - per_step * N. A program
    that fails has neither, and says why in ``failure``. ``host_seconds`` is wall time, good for ratios only.
    """

    steps: int
    per_step: dict[str, float] = {}
    once: dict[str, float] = {}
    fallback_ops: tuple[str, ...] = ()
    graph_breaks: tuple[str, ...] = ()
    """Why dynamo broke the graph, in the longer run."""
    failure: Failure | None = None
    output: str = ""
    lines: tuple[LineCounts, ...] = ()
    """Of the longer run, where they were asked for."""
    short_lines: tuple[LineCounts, ...] = ()
    """Of the shorter run, where files of the user's were recorded."""
    left: tuple[str, ...] = ()
    """What the runs left, the shorter one first."""


def measure(
    worker: Worker,
    text: str,
    mode: Mode = Mode.LAZY,
    steps: int = 6,
    seconds: float = 60.0,
    *,
    record: bool = False,
    network: bool = False,
    preload: tuple[str, ...] = (),
    devices: int = 1,
    fresh: bool = False,
    owned: tuple[str, ...] = (),
    halved: bool = False,
    data_bytes: int = MEMORY,
) -> Figures:
    """Run ``text`` at ``steps`` and at twice as many.

    ``record`` asks for the lines of the longer run; ``preload`` names modules that the worker imports before, once for
    all programs that want them; on more than one of ``devices`` of the CPU, the program runs on each of them;
    ``fresh`` asks for interpreters of their own; ``owned`` are folders whose files' lines are recorded in place of the
    program's; ``halved`` runs a program once that tells its further steps apart.
    """
    # Who gives a run more time expects a device that compiles slowly: it works meanwhile.
    cpu_seconds = max(_CPU_SECONDS, int(4 * seconds))
    asked = Request(
        text=text,
        steps=steps,
        mode=mode,
        seconds=seconds,
        cpu_seconds=cpu_seconds,
        network=network,
        preload=preload,
        devices=devices,
        fresh=fresh,
        owned=owned,
        data_bytes=data_bytes,
    )
    longer = msgspec.structs.replace(asked, steps=2 * steps, record=record, halved=halved)
    if halved:
        long = worker.run(longer)
        short = msgspec.structs.replace(long, totals=long.short_totals, lines=long.short_lines)
    else:
        short = worker.run(msgspec.structs.replace(asked, record=record and bool(owned)))
        long = short if short.failure else worker.run(longer)
    if long.failure:
        return Figures(steps=steps, failure=long.failure, output=long.output)
    growth = {name: (long.totals[name] - total) / steps for name, total in short.totals.items()}
    return Figures(
        steps=steps,
        per_step=growth,
        once={name: total - growth[name] * steps for name, total in short.totals.items()},
        fallback_ops=long.fallback_ops,
        graph_breaks=long.graph_breaks,
        output=long.output,
        lines=long.lines,
        short_lines=short.lines,
        left=(short.left, long.left),
    )
