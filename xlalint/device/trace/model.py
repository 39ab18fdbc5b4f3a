"""What is known of a traced run: plain frozen data."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from xlalint.device.recording.counts import Amounts, Counts, LineCounts
from xlalint.device.recording.debug_log import Break
from xlalint.device.recording.stretches import Place
from xlalint.findings.model import Mode


class Rates(msgspec.Struct, frozen=True, kw_only=True):
    """The mean over the steady steps."""

    compiles: float = 0
    executions: float = 0
    reads: float = 0
    uploads: float = 0
    fallbacks: float = 0


class LibraryLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a library, for what it did below one line of the user's."""

    total: LineCounts
    per_step: Rates | None


class TracedLine(msgspec.Struct, frozen=True, kw_only=True):
    total: LineCounts
    per_step: Rates | None
    """Over the steady steps of the loop that it runs in; None where none is steady."""
    early: float = 0
    """Graphs a step that ran because this line wanted a value."""
    trains: bool = False
    """Whether its steps have an optimizer."""
    amounts: Amounts = Amounts()
    library: tuple[LibraryLine, ...] = ()


class CompiledGraph(msgspec.Struct, frozen=True, kw_only=True):
    step: int | None
    """From 1; None for what came after the last step."""
    at: Place | None
    below: Place | None = None
    """The line of a library, below the user's."""
    inputs: int
    outputs: int
    ops: int | None = None
    """None where the compiler's dump is not there."""
    memory: dict[str, float] = {}
    differs: str | None = None
    """From the graph before it at the same place; None in the warm-up."""


class TracedStep(msgspec.Struct, frozen=True, kw_only=True):
    counts: Counts
    lines: dict[Place | None, Counts]
    warm_up: bool
    updates: int
    """Steps of optimizers in it."""

    @property
    def trains(self) -> bool:
        return self.updates > 0


class TracedProcess(msgspec.Struct, frozen=True, kw_only=True):
    """One process; a launch of several has one for each rank."""

    pid: int
    rank: int | None = None
    log: str = ""
    """The file that tells of it, where it was made elsewhere."""
    device: str | None = None
    devices: int = 0
    complete: bool = True
    """Whether the process reached its end. If not, ``totals`` are what was recorded until then."""
    steps: tuple[TracedStep, ...] = ()
    rest: Counts = Counts()
    """After the last step."""
    unbounded: int = 0
    """Of the steps, those that no boundary ended."""
    totals: Counts
    amounts: Amounts = Amounts()
    per_step: Rates | None = None
    """Over the steady steps with an optimizer, if there are any, else over all that are steady."""
    early: float = 0
    lines: tuple[TracedLine, ...] = ()
    unattributed: Counts
    graphs: tuple[CompiledGraph, ...] = ()
    breaks: tuple[Break, ...] = ()
    ran: dict[str, frozenset[int]] = {}
    executed: tuple[tuple[str, Place | None], ...] = ()
    """The hash and the line of each graph that ran, as far as the log tells them."""

    @property
    def warm_up(self) -> int:
        return sum(step.warm_up for step in self.steps)

    @property
    def recompiles(self) -> Sequence[CompiledGraph]:
        """What was compiled after the warm-up."""
        return [graph for graph in self.graphs if graph.differs is not None]


class Trace(msgspec.Struct, frozen=True, kw_only=True):
    """One run of the program in one mode."""

    mode: Mode | None
    """None for a log of unknown origin."""
    status: int
    """The program's exit code."""
    processes: tuple[TracedProcess, ...]

    @property
    def totals(self) -> Counts:
        return sum((process.totals for process in self.processes), Counts())

    @property
    def amounts(self) -> Amounts:
        return sum((process.amounts for process in self.processes), Amounts())
