"""A timeline in the form that Perfetto and chrome://tracing read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from xlalint.device.trace.timeline import DEVICE, HOST, STEPS, Span

_TRACKS = {STEPS: 1, HOST: 2, DEVICE: 3}
_SHOWN = {STEPS: "steps", HOST: "host: compiles, reads, uploads", DEVICE: "device: graphs"}
_MICRO = 1e6


def render(spans: Sequence[Span]) -> str:
    """One JSON object; each process has a group of tracks."""
    processes = {name: number for number, name in enumerate(dict.fromkeys(span.process for span in spans), 1)}
    events: list[dict[str, Any]] = []
    for name, number in processes.items():
        events.append(_named("process_name", name, number, 0))
        events += [_named("thread_name", _SHOWN[track], number, thread) for track, thread in _TRACKS.items()]
    events += [_event(span, processes[span.process]) for span in spans]
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ms"}, ensure_ascii=False) + "\n"


def _event(span: Span, process: int) -> dict[str, Any]:
    told = {"step": span.step, **({"line": span.line} if span.line else {})}
    return {
        "name": span.name,
        "ph": "X",
        "ts": round(span.begin * _MICRO, 3),
        "dur": round(span.seconds * _MICRO, 3),
        "pid": process,
        "tid": _TRACKS[span.track],
        "args": told,
    }


def _named(what: str, name: str, process: int, thread: int) -> dict[str, Any]:
    return {"name": what, "ph": "M", "pid": process, "tid": thread, "args": {"name": name}}
