"""When things happened in a run: what a timeline draws. Pure, but for the logs it reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from xlalint.device.recording.attribution import Owned, attribute
from xlalint.device.recording.debug_log import Charge, Event, Process, Samples, events

STEPS, HOST, DEVICE = "steps", "host", "device"


class Span(msgspec.Struct, frozen=True, kw_only=True):
    process: str
    track: str
    name: str
    begin: float
    """Seconds since the first thing of all."""
    seconds: float
    step: int
    """From 1; behind the last, the number after it."""
    line: str = ""


def spans_of_folder(folder: Path, owned: Owned) -> tuple[Span, ...]:
    """What the processes of a run left in ``folder``, whose times were asked for."""
    spans: list[Span] = []
    for log in sorted(folder.glob("*.log")):
        with log.open(encoding="utf-8", errors="replace") as lines:
            spans += spans_of(tuple(events(lines)), owned)
    first = min((span.begin for span in spans), default=0.0)
    return tuple(msgspec.structs.replace(span, begin=span.begin - first) for span in spans)


def spans_of(found: Iterable[Event], owned: Owned) -> Iterator[Span]:
    """Of one process, by the clock."""
    log = tuple(found)
    process = next((one for one in log if isinstance(one, Process)), Process(0))
    name = f"process {process.pid}" if process.rank is None else f"rank {process.rank}"
    timed = [_Timed(*one) for one in _timed(log)]
    ends = [step.ended for step in attribute(log, owned).steps]
    begin = min((one.begin for one in timed), default=0.0)
    for number, end in enumerate(ends, 1):
        yield Span(
            process=name, track=STEPS, name=f"step {number}", begin=begin, seconds=max(end - begin, 0), step=number
        )
        begin = end
    for one in timed:
        yield Span(
            process=name,
            track=DEVICE if one.kind == "graph" else HOST,
            name=_NAMES[one.kind],
            begin=one.begin,
            seconds=one.seconds,
            # Sorted by time, and few: a search by halves would be for nothing.
            step=1 + sum(end < one.begin + one.seconds for end in ends),
            line=one.line,
        )


class _Timed(msgspec.Struct, frozen=True):
    kind: str
    begin: float
    seconds: float
    line: str


_NAMES = {"compile": "compile", "graph": "graph", "read": "waits for a value", "upload": "upload"}


def _timed(log: Iterable[Event]) -> Iterator[tuple[str, float, float, str]]:
    line = ""
    for one in log:
        if isinstance(one, Charge):
            inner = one.below or one.at
            line = f"{inner.path}:{inner.line}" if inner else ""
        elif isinstance(one, Samples):
            for kind, samples in one.ended.items():
                for end, nanoseconds in samples:
                    seconds = nanoseconds / 1e9
                    # A graph runs behind the lines; which of them sent it is not told here.
                    yield kind, end - seconds, seconds, "" if kind == "graph" else line
