"""Wall-clock timers of a step: read before the device has finished, they measure tracing and not execution."""

from __future__ import annotations

from collections.abc import Iterator

from xlalint.facts.detectors.cold_sizes import check_cold_sizes
from xlalint.facts.domain.values import NONE, Namespace
from xlalint.facts.effect_traits import TRAITS
from xlalint.facts.events import Effect
from xlalint.facts.kinds import SignKind
from xlalint.facts.state.frame import Frame
from xlalint.facts.state.reaching import assignment_of
from xlalint.knowledge.tables import frameworks
from xlalint.program import ir


def note_wait(frame: Frame, name: str, node: ir.Call) -> None:
    """``xm.wait_device_ops()``."""
    if name in frameworks().names("device-wait"):
        frame.sign(SignKind.DEVICE_WAIT, node.at)


def check_elapsed(frame: Frame, node: ir.Binary) -> None:
    """``time.perf_counter() - start``: in a step with ``start`` taken earlier in the same, or after all steps."""
    if type(node.right) is not ir.Name:
        return
    started, stop = clock_read_by(frame, node.right), taken_at(frame, node.left)
    if started is None or not stop:
        return
    first, last = ir.unpack(started.at)[0], ir.unpack(stop)[0]
    loop = frame.loop_key()
    if loop is None:
        check_cold_sizes(frame, node, started, last)
        return
    if not first > loop[2]:
        return
    between = {sign.kind for sign in frame.record.signs if first < ir.unpack(sign.at)[0] <= last}
    if (
        SignKind.BOUNDARY in between
        and SignKind.DEVICE_WAIT not in between
        and not any(reads_between(frame, first, last))
    ):
        frame.emit(Effect.UNSYNCED_TIMER, node.at, NONE, "elapsed", node.right)


def reads_between(frame: Frame, first: int, last: int) -> Iterator[bool]:
    """Who reads a value has waited for it."""
    for event in frame.record.events.values():
        if not TRAITS[event.effect].coexists:
            yield first < ir.unpack(event.at)[0] <= last


def taken_at(frame: Frame, node: ir.Expr) -> int:
    """Where the clock was read that an expression gives; 0 where it is no clock."""
    if type(node) is ir.Name:
        assigned = clock_read_by(frame, node)
        return assigned.at if assigned is not None else 0
    return node.at if type(node) is ir.Call and is_clock(frame, node) else 0


def clock_read_by(frame: Frame, node: ir.Name) -> ir.Assign | None:
    """The statement that read the clock whose time a name holds."""
    assigned = assignment_of(frame, node.name)
    clock = assigned is not None and type(assigned.value) is ir.Call and is_clock(frame, assigned.value)
    return assigned if clock else None


def is_clock(frame: Frame, call: ir.Call) -> bool:
    callee = frame.evaluate(call.function)
    return type(callee) is Namespace and callee.name in frameworks().names("clock")
