"""Reads the runtime's debug log (``PT_XLA_DEBUG_LEVEL=2``), with or without the recorder's lines in it. No torch."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from xlalint.device.recording.counts import Amounts, Counts
from xlalint.device.recording.inside.recorder import MARK


class Frame(msgspec.Struct, frozen=True):
    function: str
    path: str
    line: int


class Graph(msgspec.Struct, frozen=True, kw_only=True):
    """One compile or one execution, as the runtime tells it."""

    kind: str
    """``Compilation`` or ``Execution``."""
    cause: str = ""
    hash: str = ""
    inputs: int = 0
    outputs: int = 0
    frames: tuple[Frame, ...] = ()
    """Innermost first."""
    memory: dict[str, float] = {}
    """Gigabytes on the device, by what the runtime calls them."""

    @property
    def is_compile(self) -> bool:
        return self.kind == "Compilation"

    @property
    def at_boundary(self) -> bool:
        """Whether the program asked for it by ending its step."""
        return "dynamo" not in self.cause and bool(_BOUNDARY.search(self.cause))

    @property
    def is_early(self) -> bool:
        """Whether it ran because the program wanted a value that was not there yet."""
        return "access tensor value" in self.cause and "dynamo" not in self.frames[0].path if self.frames else False


class Charge(msgspec.Struct, frozen=True):
    """What the counters gained while a line was at work; None where it was no line of the user's."""

    at: Frame | None
    gained: Counts
    below: Frame | None = None
    """The line of a library that was at work below it."""
    amounts: Amounts = Amounts()
    time: float = 0
    """In seconds of the clock; 0 where times were not recorded."""


class Boundary(msgspec.Struct, frozen=True):
    """A step boundary was passed."""

    at: Frame | None
    site: int | None = None
    """The same number is the same place, with the same lines on the way to it."""
    time: float = 0


class Update(msgspec.Struct, frozen=True):
    """An optimizer made its step."""

    optimizer: int
    time: float = 0


class Began(msgspec.Struct, frozen=True):
    """The line was reached at which the user lets a step begin."""

    time: float = 0


class Mark(msgspec.Struct, frozen=True):
    """More turns of a loop begin than a shorter run would take, or they end."""

    opened: bool


class Break(msgspec.Struct, frozen=True):
    """Dynamo ended a graph there."""

    reason: str
    at: Frame | None
    count: int


class Samples(msgspec.Struct, frozen=True):
    """When things ended (seconds of the clock) and how long they took (nanoseconds), by kind."""

    ended: dict[str, list[tuple[float, float]]]


class MemoryOfGraph(msgspec.Struct, frozen=True):
    """What the graph that was just compiled takes on the device, of one kind."""

    what: str
    gigabytes: float


class Totals(msgspec.Struct, frozen=True):
    """The runtime's own metrics at the end."""

    counts: Counts


class Ran(msgspec.Struct, frozen=True):
    """The lines of the user's files that ran, by path."""

    lines: dict[str, tuple[int, ...]]


class Process(msgspec.Struct, frozen=True):
    """Who wrote this log."""

    pid: int
    rank: int | None = None
    argv: tuple[str, ...] = ()
    device: str | None = None
    devices: int = 0


Event = Graph | MemoryOfGraph | Charge | Boundary | Update | Began | Mark | Break | Samples | Ran | Totals | Process

_BOUNDARY = re.compile(
    r"user (?:torch_xla\.sync|mark_step)|in parallel loader|end of step|StepTrace|^torch_xla\.compile$"
)
# Launchers put a time or a rank before each line.
_LINE = re.compile(r"(?<!Post )\b(Compilation|Execution) Analysis: (.*)$")
_FRAME = re.compile(r"^(.*) \((.*):(\d+)\)$")
_SIZE = re.compile(r"Post Compilation Analysis: (?P<what>[\w ]+): (?P<size>[\d.]+) GB")
_RULE = "====="


def events(lines: Iterable[str]) -> Iterator[Event]:
    """The log in its order. What is no part of an entry, or a cut last entry, is passed over."""
    entry: list[str] = []
    for raw in lines:
        line = raw.rstrip("\n")
        if line.startswith(MARK):
            told = _told(line[len(MARK) :])
            if told is not None:
                yield told
            continue
        found = _LINE.search(line)
        if found is None:
            if size := _SIZE.search(line):
                yield MemoryOfGraph(size["what"], float(size["size"]))
            continue
        kind, text = found.groups()
        if not text.startswith(_RULE):
            entry.append(text)
        elif entry:
            yield _graph(kind, entry)
            entry = []


def without_surplus(log: Iterable[Event]) -> Iterator[Event]:
    """What a shorter run would have told."""
    opened = False
    for event in log:
        if isinstance(event, Mark):
            opened = event.opened
        elif not opened:
            yield event


def _graph(kind: str, entry: list[str]) -> Graph:
    cause = ""
    numbers: dict[str, str] = {}
    frames: list[Frame] = []
    heading = ""
    for text in entry:
        if not text.startswith(" "):
            heading = text
            continue
        text = text.strip()
        name, _, value = text.partition(": ")
        frame = _FRAME.match(text)
        if heading.endswith("Cause"):
            cause = cause or text
        elif heading.startswith("Python Frame") and frame:
            frames.append(Frame(frame[1], frame[2], int(frame[3])))
        elif value:
            numbers[name] = value
    return Graph(
        kind=kind,
        cause=cause,
        hash=numbers.get("Graph Hash", ""),
        inputs=_number(numbers.get("Number of Graph Inputs")),
        outputs=_number(numbers.get("Number of Graph Outputs")),
        frames=tuple(frames),
    )


def _told(text: str) -> Event | None:
    """A line of the recorder's. None where the process died while it wrote it."""
    try:
        told = json.loads(text)
    except ValueError:
        return None
    time = told.pop("time", 0.0)
    if "boundary" in told:
        return Boundary(_frame(told["boundary"]), told.get("site"), time)
    if "totals" in told:
        return Totals(Counts(**told["totals"]))
    if "ran" in told:
        return Ran({path: tuple(lines) for path, lines in told["ran"].items()})
    if "process" in told:
        return msgspec.convert({**told, "pid": told["process"]}, Process)
    return _of_a_step(told, time)


def _of_a_step(told: dict[str, Any], time: float) -> Event:
    if "update" in told:
        return Update(told["update"], time)
    if "began" in told:
        return Began(time)
    if "surplus" in told:
        return Mark(told["surplus"])
    if "break" in told:
        one = told["break"]
        return Break(one["reason"], _frame(one["at"]), one["count"])
    if "samples" in told:
        return msgspec.convert({"ended": told["samples"]}, Samples)
    amounts = Amounts(
        compile_seconds=told.get("compile_ns", 0) / 1e9,
        read_bytes=told.get("read_bytes", 0),
        uploaded_bytes=told.get("uploaded_bytes", 0),
        fallback_ops=told.get("ops", {}),
    )
    gained = Counts(**{name: told.get(name, 0) for name in Counts.__struct_fields__})
    return Charge(_frame(told["at"]), gained, _frame(told.get("below")), amounts, time)


def _frame(place: tuple[str, int, str] | None) -> Frame | None:
    return Frame(place[2], place[0], place[1]) if place else None


def _number(text: str | None) -> int:
    return int(text) if text and text.isdigit() else 0
