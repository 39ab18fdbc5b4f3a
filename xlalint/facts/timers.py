"""Wall time of a step: what is taken before the device is done says how long the step took to be written down."""

from __future__ import annotations

from collections.abc import Iterator

from xlalint.facts import domain as d
from xlalint.facts.carried import assignment_of
from xlalint.facts.events import Effect
from xlalint.facts.frame import APART, Frame
from xlalint.knowledge.tables import frameworks
from xlalint.program import ir

BOUNDARY = "boundary"
"""What is timed without it is how long it takes to record the step, and may be meant."""
WAIT = "device-wait"


def note_wait(frame: Frame, name: str, node: ir.Call) -> None:
    """``xm.wait_device_ops()``."""
    if name in frameworks().names("device-wait"):
        frame.sign(WAIT, node.at)


def check_elapsed(frame: Frame, node: ir.Binary) -> None:
    """``time.perf_counter() - start``, with ``start`` taken earlier in the same step."""
    loop = frame.loop_key()
    if loop is None or type(node.right) is not ir.Name:
        return
    start, stop = origin(frame, node.right), taken_at(frame, node.left)
    if not start or not stop or not ir.unpack(start)[0] > loop[2]:
        return
    first, last = ir.unpack(start)[0], ir.unpack(stop)[0]
    between = {sign.kind for sign in frame.record.signs if first < ir.unpack(sign.at)[0] <= last}
    if BOUNDARY in between and WAIT not in between and not any(reads_between(frame, first, last)):
        frame.emit(Effect.UNSYNCED_TIMER, node.at, d.NONE, "elapsed", node.right)


def reads_between(frame: Frame, first: int, last: int) -> Iterator[bool]:
    """Who reads a value has waited for it."""
    for event in frame.record.events.values():
        if event.effect not in APART:
            yield first < ir.unpack(event.at)[0] <= last


def taken_at(frame: Frame, node: ir.Expr) -> int:
    """Where the clock was read that an expression gives; 0 where it is no clock."""
    if type(node) is ir.Name:
        return origin(frame, node)
    return node.at if type(node) is ir.Call and is_clock(frame, node) else 0


def origin(frame: Frame, node: ir.Name) -> int:
    assigned = assignment_of(frame, node.name)
    clock = assigned is not None and type(assigned.value) is ir.Call and is_clock(frame, assigned.value)
    return assigned.at if assigned is not None and clock else 0


def is_clock(frame: Frame, call: ir.Call) -> bool:
    callee = frame.evaluate(call.function)
    return type(callee) is d.Namespace and callee.name in frameworks().names("clock")
